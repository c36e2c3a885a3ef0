"""Instructions to an agent (prompt injection), in fifteen languages: sentences that contain a word of every group of
a kind.

A tip says how a site works; it has no business with the agent's earlier instructions, with its user's secrets, with
what the user is told, or with what the agent is.  Words are lower-case stems, looked up within a sentence; a blank
before one means the start of a word.  Plain stems instead of patterns because a tip is checked on every key press and
ten thousand of them before a freeze: this takes some ten microseconds.

Kinds, by what a sentence needs: drop + earlier + rules; send + secret; open + here + instead; untold; become.
A phrase of ``but`` takes a sentence out of its kind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kb.invisible import visible


@dataclass(frozen=True, slots=True)
class OrderPattern:
    """A kind of instruction in one language."""

    groups: tuple[tuple[str, ...], ...]
    but: tuple[str, ...] = ()


_MARKS = re.compile("[\u064b-\u0652\u0640]")
_SAME = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "’": "'", "ʼ": "'", ",": " ", "(": " ", "«": " ", "„": " ", "“": " "}
)


def _folded(text: str) -> str:
    """The normalised text: no fullwidth letters, no vowel marks, lower case."""
    return _MARKS.sub("", unicodedata.normalize("NFKC", text)).casefold().translate(_SAME)


def _order(*groups: str, but: str = "") -> OrderPattern:
    stems = tuple(tuple(_folded(group).split("|")) for group in groups)
    return OrderPattern(stems, tuple(_folded(but).split("|")) if but else ())


ORDERS: tuple[OrderPattern, ...] = (
    # English; more in lint_patterns
    _order(
        " ignore| disregard| forget| override| neglect",
        " previous| prior| above| earlier| preceding| told before| you were| you have been| all ",
        " instruction| rule| prompt| direction| guideline| told| said",
        but=" your password?| price rule| discount rule| row",
    ),
    _order(
        " send| post | e-mail | email | forward | share | upload | leak | reveal | disclose",
        " password| credential| access token| api key| secret key| cookie| card number| login data| passphrase",
        but=" reset| forgot| link| reminder| is sent| are sent| are shared| the form| field",
    ),
    _order(
        " type | enter | paste | write | put ",
        " password| credential| access token| api key| card number| passphrase",
        " feedback| comment| review| chat| message| search| guest book| notes| forum",
        but=" field 'password'",
    ),
    _order(
        " open | go to | visit | load | use ",
        " this address| this url| this link| this site| this page",
        " instead",
        but=" instead of",
    ),
    _order(
        " don't tell| do not tell| never tell| without telling| keep this secret| keep it secret| keep this from"
        "| hide this from| don't mention this| do not mention this| don't inform| do not inform",
        " user| owner| person| human| operator| customer| anyone| anybody| supervisor",
    ),
    _order(
        " from now on| as of now| you're now a",
        " you are | you're | you act| you will act| you obey",
        but=" logged| signed| on the | at the | in the ",
    ),
    # German
    _order(
        "ignorier|vergiss|vergesst|vergessen sie|missacht|nicht beacht|beachte nicht",
        " bisherig| vorherig| vorig| obig| oben| früher| alle| vorangeg|zuvor",
        "anweisung| regeln| regel |instruktion|vorgabe|befehl|weisung",
    ),
    _order(
        " sende| schick| übermitt| verrat| poste| teile ",
        "passwort|kennwort|zugangsdat|anmeldedat|zugangscode|kreditkart| cookies",
        but="zurücksetz|vergessen| link",
    ),
    _order(
        " öffne| geh| ruf| besuch| lade",
        " diese adresse| diese seite| diesen link| diese url| folgende",
        "stattdessen",
    ),
    _order(
        " nicht| nichts| kein| ohne| verschweig| verheimlich",
        " sag | sage | sagen | sagst | erzähl| verrat| mitteil| teile | informier| erwähn| verschweig"
        "| verheimlich| wissen",
        "benutzer|nutzer|anwender|auftraggeber",
        but=" seite sagt| sagt nicht",
    ),
    _order(" ab jetzt| von nun an| ab sofort| von jetzt an", " du bist| bist du| sie sind| sind sie"),
    # French
    _order(
        " ignore| oublie| néglige| ne tiens pas| ne tenez pas",
        " précédent| ci-dessus| antérieur| toutes| tous| d'avant| au-dessus",
        " instruction| consigne| règle| directive| ordre",
        but=" de remise| ligne",
    ),
    _order(
        " envoie | envoyez| transmet| transmets| communique| poste | postez| partage",
        " mot de passe| mots de passe| identifiants| jeton| clé api| carte bancaire| carte de crédit",
        but=" réinitialis| oublié| lien",
    ),
    _order(
        " ouvre| ouvrez| va | allez| visite| rends-toi",
        " cette adresse| ce lien| cette page| ce site| cette url",
        " plutôt| à la place",
        but=" plutôt que| à la place d",
    ),
    _order(
        " ne dis| ne dites| n'informe| ne parle| ne préviens| ne révèle| sans dire| sans prévenir"
        "| sans informer| cache ",
        "utilisateur| client| propriétaire| personne",
    ),
    _order(" à partir de maintenant| désormais| dorénavant| dès maintenant", " tu es| vous êtes"),
    # Spanish
    _order(
        " ignora| ignore| olvida| olvide| descarta| no hagas caso",
        " anterior| previa| arriba| todas| todos| precedent",
        " instruccion| regla| norma| órdenes| indicacion| directri",
        but=" fila| de descuento",
    ),
    _order(
        " envía| enví| manda| mande| comparte| publica| revela",
        " contraseña| credencial| clave| token| tarjeta de crédito| datos de acceso",
        but=" restablec| olvid| enlace",
    ),
    _order(
        " abre| abra| ve a| vaya| visita| visite",
        " esta dirección| este enlace| esta página| este sitio| esta url",
        " en su lugar| en vez de eso| en cambio",
    ),
    _order(
        " no le digas| no digas| no le diga| no diga| no informes| no informe| no cuentes"
        "| no le cuentes| no reveles| sin decir| sin avisar| oculta",
        " usuari| cliente| dueño| persona",
    ),
    _order(" a partir de ahora| desde ahora| de ahora en adelante", " eres| usted es| serás| actúas"),
    # Italian
    _order(
        " ignora| ignorare| dimentica| dimenticare| trascura| non considerare",
        " precedent| sopra| tutte| tutti| anterior",
        " istruzion| regol| direttiv| indicazion| ordini",
        but=" riga| di sconto",
    ),
    _order(
        " invia| inviare| manda| spedisci| condividi| pubblica| rivela| inoltra",
        " password| credenzial| parola d'ordine| codice di accesso| carta di credito| token",
        but=" reimpost| dimenticat| link| collegamento",
    ),
    _order(
        " apri| vai | visita| aprire",
        " questo indirizzo| questo link| questa pagina| questo sito",
        " invece| al suo posto",
        but=" invece di| invece che| invece del",
    ),
    _order(
        " non dire| non dirlo| non informare| non avvisare| non raccontare| non rivelare| senza dire"
        "| senza avvisare| nascondi",
        "utente| cliente| proprietario| persona",
    ),
    _order(" d'ora in poi| da ora in poi| da adesso", " sei | tu sei| agisci"),
    # Portuguese
    _order(
        " ignor| esqueça| esquece| desconsider| desprez",
        " anterior| acima| todas| todos| prévi| precedent",
        " instruç| regra| diretriz| ordens| orientaç",
        but=" linha| de desconto",
    ),
    _order(
        " envie| envia| mande| manda | compartilh| partilh| publique| revele",
        " senha| palavra-passe| credencia| token| cartão de crédito| dados de acesso",
        but=" redefin| esquec| link",
    ),
    _order(
        " abra| abre| vá | acesse| visite",
        " este endereço| este link| esta página| este site| esse endereço",
        " em vez disso| ao invés disso| no lugar",
    ),
    _order(
        " não conte| não diga| não informe| não avise| não fale| não revele| sem avisar| sem contar"
        "| sem dizer| esconda| oculte",
        " usuári| utilizador| cliente| dono| pessoa",
    ),
    _order(" a partir de agora| de agora em diante| doravante", " você é| tu és| és | você será| você age"),
    # Dutch
    _order(
        " negeer| negeert| vergeet| veronachtzaam",
        " vorige| eerdere| bovenstaande| hierboven| alle | voorgaande| bovengenoemde",
        " instructie| regel| opdracht| richtlijn| aanwijzing| voorschrift",
        but=" rij| korting",
    ),
    _order(
        " stuur| verstuur| verzend| deel | plaats | onthul| mail ",
        " wachtwoord| inloggegevens| toegangscode| creditcard| token| inlogcode",
        but=" herstel| vergeten| link| opnieuw",
    ),
    _order(
        " open| ga | bezoek", " dit adres| deze link| deze pagina| deze site| deze url", " in plaats daarvan"
    ),
    _order(
        " niet| niets| geen| zonder| verzwijg| verberg",
        " vertel| zeg | zeggen| vertellen| informeer| meld | laat weten| verzwijg| verberg",
        " gebruiker| klant| eigenaar",
    ),
    _order(" vanaf nu| voortaan| van nu af aan", " ben je| je bent| bent u| u bent"),
    # Polish
    _order(
        " zignoruj| ignoruj| zapomnij| pomiń| zlekceważ| nie zważaj",
        " poprzedni| powyższ| wcześniej| wszystkie| wszystkich",
        " instrukcj| zasad| poleceni| reguł| wytyczn| wskazów",
        but=" wiersz| rabat",
    ),
    _order(
        " wyślij| prześlij| podaj| udostępnij| opublikuj| ujawnij",
        " hasło| hasła| dane logowania| danych logowania| token| numer karty| poświadczenia",
        but=" reset| zapomnia| link| zmian",
    ),
    _order(
        " otwórz| przejdź| wejdź| odwiedź", " ten adres| tę stronę| ten link| tego adresu", " zamiast tego"
    ),
    _order(
        " nie mów| nie mow| nie informuj| nie zdradzaj| nie powiadamiaj| nie wspominaj| bez informowania| ukryj",
        " użytkownik| klient| właściciel",
    ),
    _order(" od teraz| odtąd| od tej chwili", " jesteś| działasz| będziesz"),
    # Russian
    _order(
        " игнорир| проигнорир| забудь| забудьте| не обращай внимания| отбрось| пренебреги",
        " предыдущ| выше| прежни| все | всех | всем | ранее",
        " инструкц| правил| указани| команд| предписани",
        but=" строк| скид",
    ),
    _order(
        " отправь| отправьте| пришли| перешли| передай| вышли| опубликуй| сообщи",
        " пароль| пароли| учётные данные| учетные данные| токен| номер карты| логин",
        but=" сброс| забыли| ссылк",
    ),
    _order(
        " открой| откройте| перейди| зайди",
        " этот адрес| эту страницу| эту ссылку| этот сайт| по этой",
        " вместо этого",
    ),
    _order(
        " не говори| не сообщай| не рассказывай| не упоминай| не информируй| ничего не говори| скрой| скрывай",
        " пользовател| клиент| владел| человек",
    ),
    _order(
        " теперь ты| отныне ты| с этого момента ты| теперь вы| с этого момента вы| отныне вы",
        " помощник| ассистент| администратор| без | агент| бот| не име",
    ),
    # Turkish
    _order(
        " yok say| görmezden gel| unut| dikkate alma| göz ardı| boş ver",
        " önceki| yukarıda| bütün| tüm| daha önce",
        " talimat| kural| yönerge| komut| emir",
        but=" satır| indirim",
    ),
    _order(
        " gönder| yolla| ilet| paylaş| açıkla",
        " parola| şifre| kimlik bilgi| kart numara| giriş bilgi",
        but=" sıfırla| unuttum| bağlantı",
    ),
    _order(
        " aç| git| ziyaret",
        " şu adres| bu adres| şu sayfa| bu sayfa| şu bağlantı| bu bağlantı",
        " bunun yerine| onun yerine",
    ),
    _order(
        " söyleme| bildirme| anlatma| haber verme| bahsetme| gizle| saklat", " kullanıcı| müşteri| sahibi"
    ),
    _order(
        " artık| bundan sonra| şu andan itibaren",
        "asistansın|yardımcısın|botsun|ajansın|yöneticisin| sen bir| sensin",
    ),
    # Chinese
    _order(
        "忽略|忘记|忘掉|无视|不要理会|不理会|無視|忽視",
        "之前|以上|上面|先前|所有|全部|此前|前面",
        "指令|指示|规则|规定|提示|命令|要求|規則",
        but="折扣|行|列",
    ),
    _order(
        "发送|发给|发到|寄到|提交|告诉|泄露|上传",
        "密码|口令|凭证|令牌|信用卡|账号信息|登录信息",
        but="重置|忘记|链接",
    ),
    _order(
        "打开|访问|前往", "这个网址|该网址|这个链接|这个地址|此网址|这个页面|该链接", "改为|转而|而是|改成"
    ),
    _order("不要|别|勿|不得|无需|瞒着|隐瞒", "告诉|告知|通知|透露|提及|瞒着|隐瞒", "用户|客户|使用者|主人"),
    _order("从现在起|从现在开始|今后|从此|现在开始", "你是|您是|你将|你就是"),
    # Japanese
    _order(
        "無視|忘れ|従わな|破棄",
        "これまで|以前|前の|上の|上記|すべて|全て|先の",
        "指示|ルール|命令|規則|指令|プロンプト",
        but="割引|行は|列は",
    ),
    _order(
        "送信|送って|送れ|教えて|投稿|転送|共有|入力して",
        "パスワード|認証情報|暗証番号|クレジットカード|トークン|apiキー|ログイン情報",
        "に送|へ送|に投稿|に教え|に転送|まで送|を教え|と共有|にコメント",
        but="再設定|リセット|忘れ|リンク|アカウント」",
    ),
    _order(
        "開い|開け|アクセス|移動",
        "このアドレス|このurl|このリンク|このページ|このサイト",
        " 代わりに|その代わり|かわりにこの",
    ),
    _order(
        "言わな|伝えな|知らせな|教えな|話さな|報告しな|隠し|秘密に|黙って", "ユーザ|利用者|お客|顧客|持ち主"
    ),
    _order("今から|これから|今後|以後", "あなたは|君は|お前は", "です|だ|である|として|になる"),
    # Korean
    _order(
        "무시|잊|따르지 마",
        " 이전| 위의| 위에| 모든| 앞의|지금까지",
        "지시|규칙|명령|지침|프롬프트",
        but="할인|줄은|행은",
    ),
    _order(
        "보내|전송|알려|공유|게시|전달",
        "비밀번호|암호|인증 정보|로그인 정보|카드 번호|토큰",
        "주소로|에게|메일로|로 보내|댓글|로 전송",
        but="재설정|잊|링크",
    ),
    _order(
        "여세요|열어|여십시오|열라|접속|이동|방문",
        "이 주소|이 링크|이 페이지|이 사이트|다음 주소",
        "  대신| 그 대신",
    ),
    _order("말하지 마|알리지 마|말하지 말|알리지 말|전하지 마|숨기|비밀로|모르게", "사용자|고객|주인|이용자"),
    _order(
        "이제부터|지금부터|앞으로",
        " 너는| 당신은| 넌 ",
        "도우미|비서|관리자|어시스턴트|에이전트|없는|이다|입니다",
    ),
    # Arabic
    _order(
        " تجاهل| انس | انسي| اهمل| لا تتبع",
        "السابق|اعلاه|جميع| كل |المذكور",
        "تعليمات|قواعد|اوامر|ارشادات|توجيهات",
        but="خصم|الصف ال",
    ),
    _order(
        " ارسل| ابعث| شارك| انشر| اكشف",
        "كلمة المرور|كلمة السر|بيانات الدخول|بيانات الاعتماد|بطاقة الائتمان|رمز الوصول",
        but="اعادة تعيين|نسيت|رابط",
    ),
    _order(
        " افتح| اذهب| انتقل| زر ",
        " هذا العنوان| هذا الرابط| هذه الصفحة| هذا الموقع",
        "بدلا من ذلك|عوضا عن ذلك",
    ),
    _order(" لا تخبر| لا تقل| لا تذكر| لا تبلغ| دون اخبار| اخف ", "المستخدم|العميل|المالك|صاحب"),
    _order(" من الان| ابتداء من الان| منذ الان| بعد الان", " انت | انت| ستكون| تكون"),
    # Hindi
    _order(
        "अनदेखा|नज़रअंदाज|नजरअंदाज|भूल जा|उपेक्षा", "पिछले|पहले के|ऊपर|सभी|पूर्व", "निर्देश|नियम|आदेश|हिदायत", but="छूट|पंक्ति"
    ),
    _order(
        "भेज|साझा|बता दो|पोस्ट",
        "पासवर्ड|कूटशब्द|लॉगिन जानकारी|क्रेडिट कार्ड|टोकन|पिन ",
        "पर |को |में ",
        but="रीसेट|भूल|लिंक|कुंजी",
    ),
    _order(
        "खोलो|खोलें|खोलिए|जाओ|जाएँ|जाएं", "यह पता|इस पते|यह लिंक|इस लिंक|यह पृष्ठ|यह साइट", "इसके बजाय|इसकी जगह|इसके बदले"
    ),
    _order("मत बता|न बता|मत कह|नहीं बता|ना बता|मत कहना|छिपा|छुपा", "उपयोगकर्ता|ग्राहक|मालिक|यूज़र|यूजर|प्रयोक्ता"),
    _order("अब से|अब तुम|अब आप|आज से", " तुम | आप | तुम एक| आप एक", " हो| हैं| बनो|सहायक"),
)
"""All kinds, language by language."""

NEW_ORDERS = re.compile(
    "(?:"
    r"new instructions?|neue[ns]? (?:anweisung|instruktion)(?:en)?|nouvelles? (?:instruction|consigne)s?"
    r"|nuev[ao]s? (?:instrucci[oó]n(?:es)?|[oó]rdenes)|nuov[aeoi] (?:istruzion[ei]|ordini)|novas? instruç(?:ão|ões)"
    r"|nieuwe (?:instructies?|opdracht(?:en)?)|now[ea] (?:instrukcj[ea]|poleceni[ea])"
    r"|нов(?:ые|ая|ое) (?:инструкци[ия]|указани[яе])|yeni (?:talimat|komut)(?:lar)?|新的?(?:指令|指示|任务)"
    r"|新(?:しい|たな)(?:指示|命令)|새로운 (?:지시|명령)(?:사항)?|تعليمات جديدة|नए (?:निर्देश|आदेश)"
    r")\s?[:\uff1a]",
    re.IGNORECASE,
)
"""Announces instructions."""

ROLE = re.compile(
    r"(?:^|[\n\"'“„«])\s*(?:#{1,6}\s*)?(?:\*\*)?(?:\[)?"
    r"(?:system|assistant|developer|human|système|sistema|sistem|systeem|система|系统|システム|시스템|النظام|सिस्टम)"
    r"(?:\])?(?:\*\*)?\s?[:：]\s|<\|[a-z_]{2,20}\|>|\[/?(?:SYSTEM|SYS|ASSISTANT)\]|<<SYS>>",
    re.IGNORECASE,
)
"""A speaker's role mark, which a text of a site can't be."""

FORMULA = re.compile(
    r"(?:^|[\n\"'`(;,\t])\s*[=+@-]\s*(?:HYPERLINK|IMPORT(?:XML|DATA|HTML|FEED|RANGE)|WEBSERVICE|IMAGE|RTD|DDE|CALL|EXEC"
    r"|REGISTER(?:\.ID)?|FILTERXML|ENCODEURL|INDIRECT)\s*\("
    r"|\A\s*[=+@-]\s?[A-Z][A-Z.]{1,20}\("
    r"|(?:^|[\n\"'`])\s*[=+@-][^!\n]{1,60}\|[^!\n]{1,60}![A-Z]{1,3}\d",
    re.IGNORECASE,
)
"""A formula that a spreadsheet would run."""

_SENTENCE = re.compile(r"(?:[^.!?;\n。！？；।؟]|[.!?](?=[^\s\"'”»)]))+")


def orders_in(text: str) -> Iterator[tuple[int, int]]:
    """The sentences that are instructions to an agent, as start and end."""
    for pattern in (NEW_ORDERS, ROLE, FORMULA):
        for match in pattern.finditer(text):
            yield match.span()
    folded = _fold(text)
    likely = [
        order for order in ORDERS if all(any(stem in folded for stem in group) for group in order.groups)
    ]
    if not likely:
        return
    for sentence in _SENTENCE.finditer(text):
        words = _fold(sentence.group())
        if any(_holds(order, words) for order in likely):
            start = sentence.start() + len(sentence.group()) - len(sentence.group().lstrip())
            yield start, sentence.end()


def _holds(order: OrderPattern, words: str) -> bool:
    return all(any(stem in words for stem in group) for group in order.groups) and not any(
        stem in words for stem in order.but
    )


def _fold(text: str) -> str:
    """The folded text without hidden characters, single blanks within and around it; ``'s email`` is a noun."""
    folded = "  " + " ".join(_folded(visible(text)).split()) + " "
    return folded.replace("'s email ", "'s mail ").replace("'s e-mail ", "'s mail ")
