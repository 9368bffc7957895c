"""Words by which a question tells what it is about.

All as `parts.grams` writes them: lower case, without accents, singular or plural as it comes, the words
of an expression joined by one space (an underscore here). English; the frames know further languages.
"""

from typing import Final

from searx_mcp.sources.open.engine import word_set

CODE: Final = word_set("""
gzip zstd bzip2 zlib brotli lz4
gpio xz
vim neovim emacs ssh rsync grep awk log4j openssh struts pod_crashloopbackoff
javascript typescript nodejs node.js c++ c# f# .net dotnet golang goroutine goroutines php mysql postgresql
postgres sqlite mariadb mongodb redis kafka rabbitmq elasticsearch kubernetes k8s kubectl docker dockerfile
docker-compose nginx git github_actions npm npx pnpm webpack vite eslint nextjs next.js vuejs vue reactjs
svelte sveltekit jquery html css tailwind tailwindcss django fastapi numpy scipy matplotlib pytorch tensorflow
keras scikit-learn sklearn jupyter pip pypi virtualenv venv conda pytest asyncio aiohttp pydantic sqlalchemy
pyspark vscode visual_studio intellij xcode cmake makefile gcc clang llvm gdb valgrind jvm kotlin laravel
symfony ruby_on_rails graphql grpc protobuf oauth oauth2 jwt regex regexp regular_expression json yaml toml
powershell tmux neovim ansible terraform jenkins aws_lambda systemd cron crontab iptables opencv webassembly
wasm websocket websockets localhost clojure erlang ocaml haskell fortran cobol solidity supabase firebase
selenium junit mockito spring_boot hibernate maven gradle tokio serde axum wsl langchain cuda rocm opengl
stdin stdout stderr base64 beautifulsoup sql c_compiler apache_spark useeffect usestate userdict react_native
react_hook react_hooks swiftui dataframe dataframes kubernetes_pod bash zsh xpath htaccess tsconfig
package.json pyproject.toml requirements.txt cargo.toml nullpointerexception ffmpeg openssl linux ubuntu debian
archlinux arch_linux centos rhel raspbian homebrew_install makefiles dockerfiles
""")
"""Names of languages, tools and formats that mean nothing else."""

AMBIGUOUS: Final = word_set("""
tar raspberry_pi
python rust swift go java ruby c r d julia dart scala elixir crystal perl lua nim zig pandas spring express
flask celery flutter react angular bootstrap yarn node shell lambda babel sphinx helm puppet chef vault nomad
cypress playwright mocha jest bun deno remix astro nuxt spark hadoop hive flink airflow parquet avro make
cargo crate gem scrapy requests unix latex matlab excel vba arduino unity godot
rails wordpress azure aws gcp lambda curl sed apache tomcat jira android ios windows macos
github gitlab ai llm opengl vulkan ollama terminal hive drupal magento salesforce s3 ec2 hooks
""")
"""Names of languages and tools that are animals, islands and persons, too, or that people ask other things about."""

EVERYDAY: Final = word_set("""
iron cast_iron steel metal metals skillet pan pans pot stain stains car cars bike tools nails fence bolts paint
snake snakes reptile reptiles pet pets bite eggs zoo coffee beans tea island islands bird birds gemstone gemstones
jewelry jewellery necklace ring gold pearl flowers garden gardening season weather water spring_break dress fabric
recipe recipes bread cake cook cooking bake baking eat taste concert actor actress
""")
"""Beside these a name that a language or tool shares with a thing is mostly the thing's."""

CODING: Final = word_set("""
webhook webhooks
div regex_match pull_requests flex_container
api apis rest_api endpoint endpoints backend frontend middleware compiler compilers debugger async
mutex deadlock race_condition refactor refactoring orm unit_test unit_tests unit_testing pull_request rebase
merge_conflict borrow_checker hashmap dataclass environment_variable environment_variables cors csrf sdk
runtime codebase dom flexbox typecast type_hint type_hints null_pointer memory_leak garbage_collector
garbage_collection linked_list list_comprehension stack_trace breakpoint command_line cli subprocess
multithreading goroutine foreign_key primary_key inner_join left_join outer_join stored_procedure callback
callbacks source_code boilerplate serverless microservice microservices ci/cd dependency_injection
design_pattern design_patterns event_loop dependency_conflict reverse_proxy load_balancer web_server
data_structure data_structures programming_language race_conditions segmentation_fault web_scraping
virtual_environment infinite_loop error_handling hash_map async/await software_architecture
""")
"""What only programs have."""

PROGRAMMING: Final = word_set("""
memory volatile sms smtp websocket websockets oauth compression stdin stdout happens-before
function functions method methods class classes array arrays list lists dict dictionary tuple string strings
integer float boolean pointer pointers loop loops iterate iterator iterators generator generators decorator
decorators closure closures await coroutine coroutines thread threads threading concurrency compile
compilation debug debugging syntax parse parser parsing serialize module modules library libraries framework
frameworks package packages dependency dependencies install uninstall script scripts scripting promise
promises query queries join index migration migrations schema commit branch merge repository template
templates inheritance polymorphism interface interfaces enum enums struct structs recursion recursive sort
sorting hash stack heap null undefined nullable cast comprehension sdk plugin extension server client proxy
port socket authentication authorization session cookie cookies cache caching database databases table column
columns row rows transaction programming code coding developer software bug bugs hook component components
props state render rendering form tutorial import export variable variables
config configuration env logging logger exception exceptions error errors lifetime lifetimes ownership trait
traits generics async version versions container containers deploy deployment pod pods
cluster directory folder file files path permission permissions command commands kernel driver regex format formatter linter test tests testing mock benchmark optimize macro macros binary bytes encoding decode encode unicode url download upload http https request
request response json timeout thread-safe typing object objects map filter
reduce slice slices channel channels operator operators assembly assembler virtual_machine
""")
"""What programs have and other things, too: of code beside the name of a language or a tool."""

TECHNOLOGY: Final = word_set("""
firefox chrome chromium browser browsers startup startups saas openai chatgpt gpt gpt-4 gpt-5 claude anthropic
llms llm ai gemini deepseek mistral copilot nvidia amd intel cpu gpu gpus risc-v semiconductor semiconductors
cloudflare bitcoin blockchain ethereum encryption cryptography vpn hacker hackers hacking cybersecurity malware
ransomware phishing data_breach outage database databases programming programmer programmers software
open_source silicon_valley y_combinator ycombinator self-hosted self-hosting homelab raspberry_pi robotics
quantum_computing quantum_computer computer computers computing laptop laptops technology tech iphone smartphone
linux unix macos android ios windows machine_learning deep_learning artificial_intelligence neural_network
hacker_news hn operating_system compiler internet developers developer engineer app apps devops cloud web
silicon hardware keyboard keyboards e-ink cpu ssd nas server servers privacy surveillance algorithm algorithms
data_center data_centers datacenter ide editor tls dns http ipv6 wifi 5g spacex tesla
""")
"""What readers of Hacker News talk about."""

ERROR: Final = word_set("""
traceback segfault segmentation_fault core_dumped stack_trace stacktrace kernel_panic cannot_read
permission_denied connection_refused connection_reset is_not_a_function is_not_defined no_such_file
no_module_named module_not_found command_not_found exit_code exit_status undefined_reference
undefined_symbol unable_to_resolve could_not_resolve failed_to_load failed_to_start failed_to_compile
failed_to_build cannot_find_module cannot_import unexpected_token null_pointer access_violation
out_of_memory address_already_in_use unhandled_exception syntax_error build_failed blue_screen bsod
peer_dependency could_not_find_a_version certificate_verify_failed
cannot_borrow type_mismatch econnrefused enoent eacces eaddrinuse etimedout econnreset errno
crashloopbackoff imagepullbackoff oomkilled fatal:
""")
"""What programs say when they fail."""
TROUBLE: Final = word_set("""
error errors exception exceptions crash crashes crashing crashed fails failed failing failure broken
not_working doesn't_work does_not_work won't_start won't_boot stuck hangs freezes timeout timed_out bug issue
issues warning fix
""")
"""What people say when a program fails."""
CLEAR_TROUBLE: Final = word_set("""
error errors exception exceptions crash crashes crashing crashed not_working doesn't_work does_not_work
won't_start won't_boot
""")
"""The same, where nothing but a program or a machine does that."""

PACKAGE: Final = word_set("""
package packages library libraries module modules dependency plugin
""")
NPM: Final = word_set("""
npm npmjs pnpm npx yarn_package yarn_add npm_package node_package node_packages node_module node_modules
node_library node.js_library node.js_package nodejs_library nodejs_package javascript_library
javascript_package typescript_library typescript_package react_library react_component_library
""")
CRATES: Final = word_set(
    "crates.io rust_crate rust_crates rust_library rust_libraries rust_package cargo_crate"
)
CRATE_WORDS: Final = word_set("crate crates cargo")
OTHER_PACKAGES: Final = word_set("""
pip pypi python_package python_library python_libraries python_module conda_package go_module go_package
go_library golang_library golang_package ruby_gem composer_package nuget maven_package java_library
php_library homebrew_formula apt_package c++_library packagist cpan
""")
REPOSITORY: Final = word_set("""
github gitlab repo repos repository repositories open_source open-source self-hosted awesome_list source_code
command_line_tool cli_tool boilerplate starter_template fork github_repo implementation_of framework_for
library_for library_to tool_for tool_to template_for sdk_for cli_for client_for plugin_for implementation_in
""")
ISSUES: Final = word_set("github_issue github_issues")
HOSTS_OF_ISSUES: Final = word_set("github")
"""Beside `ISSUES` these ask for no repository."""
HUGGINGFACE: Final = word_set("huggingface hugging_face gguf safetensors lora_weights gguf_model")
MODEL: Final = word_set(
    "model models checkpoint checkpoints weights pretrained pre-trained finetune fine-tuned lora"
)
MODEL_KINDS: Final = word_set("""
llm llms bert roberta gpt embedding embeddings transformer diffusion stable_diffusion whisper llama mistral
qwen gemma deepseek phi t5 clip sam yolo speech ocr segmentation classifier classification multilingual
sentence text-to-speech text-to-image speech-to-text tts asr language_model vision reranker translation
summarization ner tokenizer text-generation image-to-text speech_recognition object_detection
sentiment token huggingface instruct quantized fine-tuned pretrained text_generation reranking
""")
NAMED_MODELS: Final = word_set(
    "whisper llama mistral qwen gemma deepseek phi-3 phi-4 stable_diffusion flux bert roberta"
)
DATASET: Final = word_set(
    "dataset datasets data_set data_sets training_data corpus corpora benchmark_dataset"
)

VULNERABILITY: Final = word_set("""
cve zero-day zero_day 0day rce xss sql_injection privilege_escalation remote_code_execution
security_advisory security_advisories ghsa buffer_overflow proof_of_concept_exploit supply_chain_attack
log4shell heartbleed
""")
WEAK_VULNERABILITY: Final = word_set(
    "vulnerability vulnerabilities exploit exploits backdoor patch advisory"
)

OPINION: Final = word_set("""
vs versus alternative alternatives alternative_to alternatives_to worth_it review_of experience_with
should_i_use best compared_to comparison pros_and_cons opinion opinions discussion launch show_hn ask_hn
""")

SCHOLARLY: Final = word_set("""
paper papers research_paper research_papers paper_on paper_about paper_by scientific_paper paper_that journal_article
study studies meta-analysis meta-analyses metaanalysis meta_analysis preprint preprints et_al systematic_review
literature_review survey_of review_article randomized_controlled_trial randomized_trial clinical_trial
clinical_trials arxiv doi pubmed pmid peer-reviewed peer_reviewed thesis dissertation proceedings neurips icml
iclr cvpr citations cited empirical_evidence research_on scientific_evidence evidence_for effect_of effects_of
association_between correlation_between efficacy_of cohort_study longitudinal_study journal_of researchers
scholarly publications bibliography state-of-the-art state_of_the_art findings biorxiv medrxiv conference_paper
seminal_paper original_paper lancet randomised_controlled_trial prevalence_of
""")
NOT_SCHOLARLY: Final = word_set("""
study_room study_abroad study_tips study_desk case_study_house toilet_paper paper_plane paper_planes paper_airplane
paper_airplanes paper_towel paper_mache paper_bag paper_money paper_size paper_jam paper_trading tissue_paper
sand_paper rolling_paper paper_cup wrapping_paper paper_cranes paper_crane bullet_journal study_guide study_music study_in
""")
"""What takes a word of the list above its meaning."""

BIOMEDICAL: Final = word_set("""
sepsis
caffeine insomnia sleep_quality nutrition melatonin creatine
gene genes genome genomic genetic genetics mutation mutations protein proteins enzyme enzymes receptor
receptors disease diseases syndrome disorder cancer cancers tumor tumour tumors carcinoma leukemia lymphoma
melanoma diabetes alzheimer alzheimer's parkinson parkinson's asthma stroke hypertension obesity depression
schizophrenia autism epilepsy malaria tuberculosis hiv covid covid-19 sars-cov-2 influenza measles hepatitis
virus viruses viral bacteria bacterial infection infections antibiotic antibiotics vaccine vaccines vaccination
immune immunity immunotherapy antibody antibodies inflammation cytokine cytokines therapy therapies
therapeutic treatment symptoms symptom diagnosis patients patient clinical drug drugs dose dosage dosing
pharmacology pharmacokinetics toxicity side_effects inhibitor inhibitors crispr crispr-cas9 cas9 mrna rna dna
microbiome gut_microbiota stem_cell stem_cells cell cells mitochondria mitochondrial neuron neurons dopamine
serotonin insulin cholesterol metformin aspirin ibuprofen statin statins acetaminophen paracetamol ketamine
semaglutide ozempic placebo surgery surgical chemotherapy radiotherapy mortality epidemiology pathogen
pathogens pregnancy cardiovascular cardiac kidney liver lung neurodegenerative cortisol hormone hormones
vitamin_d omega-3 probiotics pediatric medication medications sleep_apnea biomarker biomarkers brca1 brca2
p53 tp53 egfr pcr in_vivo in_vitro mice glp-1 long_covid pathogenesis ssri ssris
""")
WEAK_BIOMEDICAL: Final = word_set(
    "virus viruses cell cells treatment patch depression immune stroke drug drugs dna"
)
"""These are talked of outside of medicine, too: beside code and technology they do not count."""
MEDICAL_ENDINGS: Final = (
    "itis", "emia", "aemia", "oma", "opathy", "ectomy", "mab", "tinib", "statin", "cillin", "azole", "prazole",
    "oxetine", "sartan", "gliptin", "gliflozin", "mycin", "virus", "vir", "osis",
)  # fmt: skip
"""Of names of diseases and drugs (WHO's list of stems of nonproprietary names)."""
NOT_MEDICAL: Final = word_set("""
diploma aroma coma oklahoma roma sonoma soma tacoma paloma loma osmosis hypnosis metamorphosis antivirus
elixir nadir fakir devoir reservoir kashmir vladimir souvenir triumvir symbiosis idioma carcinoma_in_situ
neurosis psychosis prognosis voir savoir avoir pouvoir devoir tamir samir academia bohemia
""")

FORMAL: Final = word_set("""
quantum neural neural_network neural_networks transformer transformers attention_mechanism self-attention
reinforcement_learning llm llms language_model language_models diffusion_model diffusion_models
deep_learning machine_learning large_language_models graph_neural graph_neural_networks
theorem theorems conjecture lemma manifold manifolds cohomology homology galaxy galaxies dark_matter
dark_energy black_hole black_holes neutrino neutrinos superconductivity superconductor superconductors
topological topology lattice string_theory stochastic optimization cosmology cosmological gravitational
gravitational_waves gravitational_wave qubit qubits plasma entanglement attention_is higgs_boson particle_physics
standard_model riemann_hypothesis prime_numbers combinatorics number_theory algebraic geometry exoplanet
exoplanets astrophysics condensed_matter bose-einstein spin photonics fluid_dynamics turbulence
navier-stokes bayesian_inference gradient_descent convolutional generative_adversarial contrastive_learning
federated_learning computer_vision natural_language_processing nlp retrieval-augmented prompt
complexity_theory np-hard cryptographic zero-knowledge kernel_methods hamiltonian lagrangian renormalization
quantum_error_correction graphene in-context_learning chain-of-thought word_embeddings image_recognition
partial_differential_equations variational sparse tensor knowledge_graph supernova supernovae redshift
""")
"""Physics, mathematics and computer science: arXiv's fields."""
THEOREMS: Final = word_set("theorem theorems conjecture lemma hypothesis proof_of proof_that")

PLACE: Final = word_set("""
where_is address_of map_of coordinates_of coordinates location_of directions_to near_me nearest closest
closest_to located_in distance_from distance_between street_address zip_code postcode postal_code latitude
longitude opening_hours wo_ist wo_liegt ou_est ou_se_trouve donde_esta in_der_nahe_von pres_de cerca_de
adresse_von carte_de mapa_de directions how_to_get_to
""")
PLACE_KINDS: Final = word_set("""
restaurant restaurants hotel hotels hostel hostels cafe cafes coffee_shop coffee_shops museum museums station
stations train_station metro_station bus_station airport airports hospital hospitals pharmacy pharmacies school
schools university park parks bridge beach beaches supermarket supermarkets bakery bakeries bar bars pub pubs
cinema cinemas theatre gym gyms library libraries church churches castle castles campground campsite parking
atm atms bank banks gas_station charging_station charging_stations embassy consulate town_hall playground
swimming_pool zoo stadium marketplace bookstore bookshop pizza pizzeria vegan_restaurant street avenue square
mountain lake river waterfall village bike_shop post_office viewpoint
""")
STREETS: Final = (
    "strasse", "straat", "gasse", "platz", "allee", "weg", "street", "avenue", "boulevard", "road", "rue", "calle",
    "via", "plaza", "piazza", "drive", "lane",
)  # fmt: skip
"""Words of addresses; a number has to stand beside them."""
NOT_NEAR: Final = word_set(
    "near_death near-death near_field near_infrared near_miss near_future near_zero near_optimal"
)

PERSON: Final = word_set("""
who_is who_was who_are who_were who_invented who_founded who_wrote who_painted who_discovered born biography
founder_of ceo_of president_of prime_minister_of net_worth age_of wife_of husband_of married death_of
wer_ist wer_war qui_est qui_etait quien_es quien_fue author_of inventor_of capital_of population_of
history_of chancellor_of king_of queen_of director_of
""")
NEWS: Final = word_set("""
news headlines headline breaking latest_on latest_news this_week this_morning yesterday tonight last_night
last_week announced announces announcement press_release live_updates updates_on recent_developments ceasefire
resigns resigned election elections election_results nachrichten aktuelles actualites noticias schlagzeilen
today what_happened wildfire wildfires earthquake_today protests sanctions summit latest latest_update
latest_updates breaking_news current_events
""")
WEAK_NEWS: Final = word_set("""
election elections announced announces announcement today yesterday latest sanctions summit protests wildfire
wildfires latest_update latest_updates resigned headline tonight what_happened this_week breaking latest_on
""")
"""These mean news beside nothing that is of code, science or media."""

IMAGE: Final = word_set("""
photo photos photograph photographs photography picture pictures image images pic pics wallpaper wallpapers
clipart clip_art logo_of icon_of icon_for illustration_of stock_photo stock_photos svg_icon foto fotos bild
bilder imagenes imagen portrait_of drawing_of painting_of illustration icon logo diagram_of
""")
NOT_IMAGE: Final = word_set("""
image_processing image_recognition image_segmentation image_classification image_captioning image_generation
image_compression image_registration docker_image docker_images container_image disk_image iso_image
photography_tips picture_of_dorian body_image self-image image_classifier image_encoder image-to-text
photo_editor photo_editing image_editor picture_frame big_picture photo_album picture_dorian
""")
VIDEO: Final = word_set("""
video videos lecture lectures documentary documentaries footage trailer film_clip movie_clip video_clip
vortrag dokumentation video_tutorial recording_of_talk conference_talk screencast timelapse time-lapse talk_on
short_film silent_film silent_films public_domain_movie newsreel vlog
""")
NOT_VIDEO: Final = word_set("""
video_game video_games video_card video_codec video_driver video_encoding video_editing video_editor
apple_watch smart_watch wrist_watch video_conferencing night_watch video_compression video_encoder
lecture_notes watch_list video_understanding video_player video_memory watch_out watch_repair
""")
MUSIC: Final = word_set("""
sings sang sung_by who_sings who_sang
song songs album albums lyrics discography music_by soundtrack rock_band punk_band metal_band jazz_band the_band
singer singer-songwriter rapper band_from bands lied lieder liedtext chanson chansons paroles cancion canciones
letra tracklist debut_album studio_album live_album mixtape concerto symphony sonata opera_by composer single_by
track_by ep_by songs_by albums_by remix hit_single guitarist concert_recording musician musicians mp3
indie_band band_members concerts
""")
NOT_MUSIC: Final = word_set(
    "bird_song birdsong bird_songs whale_song whale_songs song_bird song_dynasty photo_album rubber_band band_gap songbird album_art"
)
RECORDINGS: Final = word_set(
    "sings sang sung_by song lyrics track recording single liedtext paroles letra cancion chanson remix lied"
)
ALBUMS: Final = word_set(
    "album soundtrack ep tracklist mixtape lp debut_album studio_album live_album release"
)
ARTISTS: Final = word_set("""
band bands singer singer-songwriter rapper artist artists discography songs albums songs_by albums_by music_by
musician composer guitarist songs_of lieder chansons canciones
""")
SOUND: Final = word_set("""
sound_effect sound_effects birdsong bird_song bird_call ambient_sound field_recording field_recordings sound_of
sounds_of audio_sample audio_samples drum_loop white_noise audio audio_clip pronunciation_of audio_recording
audiobook audiobooks podcast radio_show old_time_radio
""")

FILES: Final = {
    "texts": word_set(
        "pdf pdfs ebook ebooks epub book books manual manuals scan scanned magazine magazines textbook"
    ),
    "software": word_set(
        "software game games iso rom roms floppy msdos ms-dos abandonware installer shareware emulator"
    ),
    "audio": word_set("audiobook audiobooks mp3 flac audio recording recordings radio"),
    "movies": word_set("movie movies film films video videos"),
    "image": word_set("image images photo photos map maps poster posters"),
    "data": word_set("dataset datasets data dump"),
}
"""Words by the Internet Archive's mediatype; the first that fits counts."""
FILE: Final = word_set(
    "pdf epub ebook ebooks abandonware msdos_game iso_file download_pdf public_domain_book scanned_book"
)
