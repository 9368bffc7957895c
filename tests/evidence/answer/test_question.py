"""Questions taken apart."""

# ruff: noqa: RUF001 - words of languages in other scripts are meant as they are

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.evidence.answer.question import MOST_PARTS, analyse
from searx_mcp.evidence.requests import MAX_QUESTION_LENGTH, Intent

# Each question, its intent, and its parts: none if it stays one, "=" for the question itself.
QUESTIONS: list[tuple[str, str, list[str]]] = [
    ("What is the capital of Mongolia?", "factual", []),
    (
        "What is the boiling point of ethanol and when was it first distilled?",
        "factual",
        [
            "What is the boiling point of ethanol",
            "when was it first distilled (boiling point ethanol)",
        ],
    ),
    (
        "What is HTTP/3 and how does it differ from HTTP/2?",
        "factual",
        ["What is HTTP/3", "how does it differ from HTTP/2 (HTTP/3)"],
    ),
    (
        "How do I install Postgres on Debian, and how do I create a first user?",
        "how_to",
        ["How do I install Postgres on Debian", "how do I create a first user?"],
    ),
    (
        "Who founded the Red Cross? Where is its headquarters?",
        "factual",
        ["Who founded the Red Cross?", "Where is its headquarters (Red Cross)"],
    ),
    (
        "Compare how scikit-learn and XGBoost handle categorical features",
        "comparison",
        [
            "=",
            "how scikit-learn handle categorical features",
            "how XGBoost handle categorical features",
        ],
    ),
    (
        "Compare Python and Rust in terms of memory safety",
        "comparison",
        ["=", "Python in terms of memory safety", "Rust in terms of memory safety"],
    ),
    (
        "What is the difference between TCP and UDP?",
        "comparison",
        ["=", "What is TCP?", "What is UDP?"],
    ),
    (
        "difference between a cold brew and an iced coffee",
        "comparison",
        ["=", "cold brew", "iced coffee"],
    ),
    (
        "Redis vs Memcached for session storage",
        "comparison",
        ["=", "Redis for session storage", "Memcached for session storage"],
    ),
    ("SQLite versus DuckDB", "comparison", ["=", "SQLite", "DuckDB"]),
    ("Which is faster: ripgrep or grep?", "comparison", []),
    ("What are the pros and cons of heat pumps?", "comparison", []),
    ("Explain how garbage collection works in Go", "exploratory", []),
    ("Why did the Roman Empire fall?", "exploratory", []),
    ("Tell me about the history of the Suez Canal", "exploratory", []),
    ("How does TLS work?", "exploratory", []),
    ("how to enable WAL mode in SQLite", "how_to", []),
    ("Configure nginx as a reverse proxy", "how_to", []),
    (
        "1. What is the population of Oslo? 2. What is its area? 3. Who is the mayor?",
        "factual",
        ["What is the population of Oslo?", "What is its area (Oslo)", "Who is the mayor (Oslo)"],
    ),
    (
        "Answer these: (a) when was it built (b) who designed it (c) how tall is it",
        "factual",
        [
            "Answer these: when was it built",
            "Answer these: who designed it",
            "Answer these: how tall is it",
        ],
    ),
    (
        "What is the retry limit, what is the default timeout, and which errors are retried?",
        "factual",
        ["What is the retry limit", "what is the default timeout", "which errors are retried?"],
    ),
    ("Who wrote Dune and in what year?", "factual", []),
    (
        "What is the refund policy and does it cover shipping?",
        "factual",
        ["What is the refund policy", "does it cover shipping (refund policy)"],
    ),
    (
        "How many employees does Siemens have and what was its revenue in 2023?",
        "factual",
        ["How many employees does Siemens have", "what was its revenue in 2023 (Siemens)"],
    ),
    ("salt and pepper shrimp recipe", "factual", []),
    (
        "What is the capital of Austria, of Peru, and of Hungary?",
        "factual",
        [
            "=",
            "What is the capital of Austria",
            "What is the capital of Peru",
            "What is the capital of Hungary?",
        ],
    ),
    ("What is the history of the city and of its people?", "exploratory", []),
    ("Of what and of whom is it made?", "factual", []),
    (
        "Which city in Peru is the largest and in which region is Cusco?",
        "factual",
        ["Which city in Peru is the largest", "in which region is Cusco?"],
    ),
    (
        "When did the Suez Canal open, and under whose rule was it built, and by which company?",
        "factual",
        [
            "When did the Suez Canal open",
            "under whose rule was it built, and by which company (Suez Canal)",
        ],
    ),
    (
        "In which year did Grace Hopper die and in which city was she born?",
        "factual",
        [
            "In which year did Grace Hopper die",
            "in which city was she born (Grace Hopper)",
        ],
    ),
    ("What is the city in which Kant lived and in which he died called?", "factual", []),
    ("Who was born in Paris and in which year?", "factual", []),
    (
        "When did Peru become independent and when Chile?",
        "factual",
        ["When did Peru become independent", "when Chile (become independent)"],
    ),
    (
        "What is the capital of Austria and what of Hungary?",
        "factual",
        ["What is the capital of Austria", "what of Hungary (capital)"],
    ),
    ("What are the rules and regulations for drones in Norway?", "factual", []),
    ("When and where was Ada Lovelace born?", "factual", []),
    (
        "Who is the CEO of Nvidia and how long has he held that position?",
        "factual",
        ["Who is the CEO of Nvidia", "how long has he held that position (CEO Nvidia)"],
    ),
    ("Was ist der Unterschied zwischen Brutto und Netto?", "comparison", []),
    ("Wie richte ich WireGuard auf Debian ein?", "how_to", []),
    ("Was kostet die Fahrkarte und wo kann ich sie kaufen?", "factual", []),
    ("Warum ist der Himmel blau?", "exploratory", []),
    ("Quelle est la différence entre le TGV et l'Intercités ?", "comparison", []),
    ("Comment installer Docker sur Ubuntu ?", "how_to", []),
    ("Pourquoi le ciel est-il bleu ?", "exploratory", []),
    ("¿Cuál es la diferencia entre el IVA y el IRPF?", "comparison", []),
    ("¿Cómo puedo cambiar mi contraseña?", "how_to", []),
    ("¿Qué es la fotosíntesis?", "factual", []),
    ("东京塔有多高？它是什么时候建成的？", "factual", ["东京塔有多高？", "它是什么时候建成的？"]),
    ("Python和Java有什么区别？", "comparison", []),
    ("如何在Ubuntu上安装Docker？", "how_to", []),
    (
        "東京タワーの高さは？いつ建てられましたか？",
        "factual",
        ["東京タワーの高さは？", "いつ建てられましたか (東京タワーの高さは)"],
    ),
    ("PythonとRubyの違いは何ですか", "comparison", []),
    ("วิธีติดตั้ง Docker บน Ubuntu", "how_to", []),
    ("Какова высота Эвереста и когда его впервые покорили?", "factual", []),
    ("В чём разница между PostgreSQL и MySQL?", "comparison", []),
    ("Как установить Docker на Ubuntu?", "how_to", []),
    (
        "서울의 인구는 얼마인가요? 면적은요?",
        "factual",
        ["서울의 인구는 얼마인가요?", "면적은요 (서울의 인구는 얼마인가요)"],
    ),
    (
        "ما هي عاصمة المغرب؟ وكم عدد سكانها؟",
        "factual",
        ["ما هي عاصمة المغرب؟", "وكم عدد سكانها (عاصمة المغرب)"],
    ),
    ('What does "and when" mean in the contract?', "factual", []),
    ("Does it work offline?", "factual", []),
    (
        "How does it handle missing values and what about outliers?",
        "factual",
        ["How does it handle missing values", "what about outliers?"],
    ),
    ("Why", "exploratory", []),
    ("pricing", "factual", []),
    ("retry policy timeout defaults", "factual", []),
    (
        "What changed in version 3.12 vs 3.11?",
        "comparison",
        ["=", "What changed in version 3.12?", "What changed in version 3.11?"],
    ),
    ("Should I use npm or pnpm?", "comparison", []),
    (
        "React vs. Vue vs. Svelte: which has the smallest bundle?",
        "comparison",
        [
            "=",
            "React: which has the smallest bundle?",
            "Vue: which has the smallest bundle?",
            "Svelte: which has the smallest bundle?",
        ],
    ),
    ("Compare A, B and C", "comparison", []),
    ("What is e.g. meant by this? See sec. 3.2.", "factual", []),
    (
        "How long does the visa take, how much does it cost, and can I extend it?",
        "factual",
        [
            "How long does the visa take",
            "how much does it cost (visa take)",
            "can I extend it (visa take)",
        ],
    ),
    ("List the steps to reset the router", "how_to", []),
    ("Overview of CRISPR applications in agriculture", "exploratory", []),
    ("Kafka or RabbitMQ for event sourcing?", "factual", []),
    ("In Django 5, how do I add a custom user model?", "how_to", []),
    ("I use Django with Postgres. How do I add an index?", "how_to", []),
    ("What is the name of the tower, which was built in 1889?", "factual", []),
    ("Compare cars in Norway and Sweden", "comparison", ["=", "cars in Norway", "cars in Sweden"]),
    (
        "What is the difference between Redis, Memcached and Hazelcast?",
        "comparison",
        ["=", "What is Redis?", "What is Memcached?", "What is Hazelcast?"],
    ),
    (
        "New York vs Chicago for winter holidays",
        "comparison",
        ["=", "New York for winter holidays", "Chicago for winter holidays"],
    ),
    (
        "session storage in Redis vs Memcached",
        "comparison",
        ["=", "session storage in Redis", "session storage in Memcached"],
    ),
    ("Is it cheaper to rent or to buy?", "comparison", []),
    (
        "Wie hoch ist der Eiffelturm? Und der Fernsehturm?",
        "factual",
        ["Wie hoch ist der Eiffelturm?", "Und der Fernsehturm (Eiffelturm)"],
    ),
    (
        "What is the difference between json and jsonb?",
        "comparison",
        ["=", "What is json?", "What is jsonb?"],
    ),
    ("How do json and jsonb differ?", "factual", []),
    ("git merge vs rebase", "comparison", ["=", "git merge", "git rebase"]),
    (
        "What are the default values of max_connections, shared_buffers and work_mem?",
        "factual",
        [
            "=",
            "What are the default values of max_connections?",
            "What are the default values of shared_buffers?",
            "What are the default values of work_mem?",
        ],
    ),
    (
        "name, type and default of the option server_name",
        "factual",
        [
            "=",
            "name of the option server_name",
            "type of the option server_name",
            "default of the option server_name",
        ],
    ),
    (
        "What is the difference between VACUUM and VACUUM FULL in Postgres?",
        "comparison",
        ["=", "What is VACUUM in Postgres?", "What is VACUUM FULL in Postgres?"],
    ),
    (
        "In Django 5, what do Redis vs Memcached cost?",
        "comparison",
        ["=", "In Django 5, what do Redis cost?", "In Django 5, what do Memcached cost?"],
    ),
]


@pytest.mark.parametrize(("query", "intent", "parts"), QUESTIONS)
def test_a_question_is_taken_apart_by_its_words(query, intent, parts):
    analysis = analyse(query)
    assert analysis.intent == intent
    assert list(analysis.sub_queries) == [query if part == "=" else part for part in parts or "="]


def test_a_given_intent_decides():
    query = "replication in Postgres and MySQL"
    assert analyse(query).sub_queries == (query,)
    compared = analyse(query, Intent.COMPARISON)
    assert compared.sub_queries == (query, "replication in Postgres", "replication in MySQL")
    assert analyse("npm or pnpm", Intent.COMPARISON).sub_queries == ("npm or pnpm", "npm", "pnpm")


def test_what_stands_behind_the_last_part_stays_with_it():
    query = " ".join(f"What is part {n} about?" for n in range(8))
    parts = analyse(query).sub_queries
    assert len(parts) == MOST_PARTS
    assert all(f"part {n}" in " ".join(parts) for n in range(8))


BITS = [
    *(
        "compare ",
        "a and ",
        " vs ",
        "? ",
        ", who ",
        "1. ",
        "(a) ",
        "how do i ",
        "how does ",
        " or ",
    ),
    *(
        "is a faster than ",
        "difference between ",
        "in terms of ",
        "should i use ",
        "it ",
        ": ",
        ", ",
    ),
    *(
        "comment ab",
        "wie gehe ",
        "\u548c",
        "\u3068",
        "\u3002",
        "Xa ",
        "\u043a\u0430\u043a ",
        "e ",
        "\u1680",
        "\t",
    ),
]


@given(st.lists(st.sampled_from(BITS), min_size=1, max_size=3), st.sampled_from([None, *Intent]))
def test_no_question_is_too_long(bits, intent):
    query = "".join(bits * MAX_QUESTION_LENGTH)[:MAX_QUESTION_LENGTH]
    parts = analyse(query, intent).sub_queries  # what is not linear does not end here
    assert 1 <= len(parts) <= MOST_PARTS


@given(st.text(max_size=60), st.sampled_from([None, *Intent]))
def test_any_text_is_taken_apart_and_always_in_the_same_way(query, intent):
    first = analyse(query, intent)
    assert first == analyse(query, intent)
    assert 1 <= len(first.sub_queries) <= MOST_PARTS
    assert len(set(first.sub_queries)) == len(first.sub_queries)
