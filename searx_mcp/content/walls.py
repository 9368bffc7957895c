"""Phrases by which a short page says that it does not show what was looked for.

Each is in lower case. They are looked for at the beginning of short pages only: a long page may speak
of them.
"""

# ruff: noqa: RUF001 - letters that look like Latin ones are of other scripts here

from collections.abc import Mapping
from typing import Final

from searx_mcp.models.response import Poor

PHRASES: Final[Mapping[Poor, tuple[str, ...]]] = {
    Poor.PAYWALL: (
        "subscribe to continue", "subscribe to read", "subscribe now to read",
        "this article is for subscribers", "this content is for subscribers",
        "for subscribers only", "to continue reading, subscribe", "unlock this article",
        "you have reached your limit of free articles", "you've reached your limit of free",
        "weiterlesen mit", "nur für abonnenten", "jetzt abonnieren und weiterlesen",
        "abonnez-vous pour", "réservé aux abonnés", "il vous reste % de cet article",
        "suscríbete para", "solo para suscriptores", "exclusivo para suscriptores",
        "assine para continuar", "exclusivo para assinantes", "abbonati per",
        "riservato agli abbonati", "alleen voor abonnees", "только для подписчиков",
        "оформите подписку, чтобы", "tylko dla subskrybentów", "kup dostęp, aby",
        "اشترك للقراءة", "للمشتركين فقط", "订阅后阅读", "仅限订阅", "会员专享",
        "有料会員限定", "この記事は有料", "구독자 전용", "सब्सक्राइब करें",
    ),
    Poor.LOGIN: (
        # English
        "log in to continue", "sign in to continue", "log in to view", "sign in to view",
        "log in to see", "sign in to see", "log in to read", "sign in to read", "please log in",
        "please sign in", "please login", "you must be logged in", "you need to be logged in",
        "you must log in", "you must sign in", "login required", "sign up to see",
        "create an account to continue", "for members only", "members-only content",
        # German
        "bitte melden sie sich an", "melden sie sich an, um", "melde dich an, um",
        "einloggen, um", "anmelden, um", "bitte einloggen", "sie müssen angemeldet sein",
        # French
        "connectez-vous pour", "veuillez vous connecter", "identifiez-vous pour",
        "vous devez être connecté", "réservé aux membres",
        # Spanish
        "inicia sesión para", "inicie sesión para", "debes iniciar sesión",
        "debe iniciar sesión", "regístrate para", "solo para miembros",
        # Portuguese
        "faça login para", "inicie sessão para", "entre para continuar", "faça o login",
        # Italian
        "accedi per", "effettua il login", "effettua l'accesso", "devi accedere",
        # Dutch
        "log in om", "meld je aan om", "meld u aan om", "je moet ingelogd zijn",
        # Russian
        "войдите, чтобы", "необходимо войти", "необходимо авторизоваться",
        "авторизуйтесь, чтобы", "только для зарегистрированных",
        # Polish
        "zaloguj się, aby", "musisz się zalogować", "zaloguj się aby",
        # Turkish
        "giriş yapmalısınız", "devam etmek için giriş yapın",
        # Arabic
        "سجل الدخول", "تسجيل الدخول للمتابعة", "يرجى تسجيل الدخول", "يجب تسجيل الدخول",
        # Hindi
        "लॉग इन करें", "कृपया लॉगिन करें",
        # Chinese
        "请登录", "请先登录", "登录后查看", "登录后才能", "請登入", "請先登入", "需要登录",
        # Japanese
        "ログインしてください", "ログインが必要", "会員限定", "ログインすると",
        # Korean
        "로그인이 필요", "로그인 후 이용", "로그인해 주세요",
    ),
    Poor.SCRIPT: (
        "enable javascript", "javascript is disabled", "requires javascript", "needs javascript",
        "javascript is required", "turn on javascript", "without javascript",
        "aktivieren sie javascript", "javascript aktivieren", "benötigt javascript",
        "activer javascript", "activez javascript", "javascript est désactivé",
        "habilita javascript", "active javascript", "habilite javascript", "abilita javascript",
        "javascript inschakelen", "schakel javascript in", "включите javascript",
        "włącz javascript", "javascript'i etkinleştirin", "تفعيل جافا سكريبت",
        "启用javascript", "启用 javascript", "javascriptを有効", "javascript를 활성화",
        "जावास्क्रिप्ट सक्षम",
    ),
    Poor.CONSENT: (
        "accept all cookies", "accept cookies", "cookie preferences", "manage cookies",
        "we value your privacy", "before you continue to", "reject all",
        "alle cookies akzeptieren", "alle akzeptieren", "wir verwenden cookies",
        "tout accepter", "nous utilisons des cookies", "accepter les cookies",
        "aceptar todas las cookies", "aceptar cookies", "utilizamos cookies",
        "aceitar todos os cookies", "accetta tutti", "utilizziamo i cookie",
        "alle cookies accepteren", "accepteer cookies", "принять все", "используем файлы cookie",
        "akceptuję", "używamy plików cookie", "çerezleri kabul et", "قبول الكل",
        "ملفات تعريف الارتباط", "接受所有cookie", "cookieを使用", "쿠키를 사용",
    ),
    Poor.PARKED: (
        "this domain is for sale", "domain is for sale", "domain may be for sale",
        "buy this domain", "this domain is parked", "domain is parked", "parked free",
        "this domain has expired", "inquire about this domain", "make an offer on this domain",
        "diese domain steht zum verkauf", "domain steht zum verkauf", "domain kaufen",
        "ce domaine est à vendre", "nom de domaine est à vendre",
        "este dominio está en venta", "dominio en venta", "este domínio está à venda",
        "questo dominio è in vendita", "dit domein is te koop", "домен продается",
        "домен продаётся", "domena na sprzedaż", "此域名出售", "域名正在出售", "域名出售",
        "このドメインは販売", "このドメインは、お名前", "도메인을 판매", "هذا النطاق للبيع",
    ),
    Poor.ERROR: (
        "404 not found", "page not found", "error 404", "404 error", "403 forbidden",
        "access denied", "access to this page has been denied", "500 internal server error",
        "502 bad gateway", "503 service unavailable", "service temporarily unavailable",
        "this page could not be found", "this page doesn't exist", "page does not exist",
        "this page isn't available", "page you requested could not be found",
        "the page you are looking for", "something went wrong", "has been removed by the user",
        "seite nicht gefunden", "seite existiert nicht", "seite wurde nicht gefunden",
        "page introuvable", "page non trouvée", "cette page n'existe pas",
        "página no encontrada", "la página no existe", "página não encontrada",
        "pagina non trovata", "pagina niet gevonden", "страница не найдена",
        "такой страницы нет", "nie znaleziono strony", "strona nie istnieje",
        "sayfa bulunamadı", "الصفحة غير موجودة", "पृष्ठ नहीं मिला", "页面不存在", "找不到页面",
        "頁面不存在", "找不到網頁", "ページが見つかりません", "お探しのページ", "페이지를 찾을 수 없",
    ),
}  # fmt: skip
"""Fifteen languages, as sites write them; the first that is found counts."""
