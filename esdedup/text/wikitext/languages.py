"""Names in wikis by language: sections, namespaces, magic words, language links.

All languages are used together for every wiki, because articles borrow names from templates and translations of other
wikis. A name that means an ordinary section elsewhere (such as "Literatura") is therefore left out. Names are compared
folded (see `folded_names.fold`), so case does not matter here.
"""

from __future__ import annotations

SECTIONS: dict[str, str] = {
    "af": "sien ook|verwysings|bronne|bronnelys|notas|eksterne skakels|verdere leesstof|voetnotas",
    "ar": "انظر أيضا|انظر أيضًا|انظر أيضاً|مراجع|المراجع|هوامش|ملاحظات|مصادر|المصادر|وصلات خارجية"
    "|روابط خارجية|وصلات إضافية|قراءة إضافية|قراءات إضافية|مراجع وملاحظات|هوامش ومراجع|ببليوغرافيا",
    "az": "həmçinin bax|istinadlar|mənbə|mənbələr|xarici keçidlər|qeydlər|ədəbiyyat",
    "be": "гл. таксама|гл. яшчэ|глядзіце таксама|зноскі|крыніцы|спасылкі|заўвагі|вонкавыя спасылкі|бібліяграфія",
    "bg": "вижте също|вижте още|източници|бележки|бележки и източници|външни препратки|препратки"
    "|библиография|допълнителна литература|допълнително четене|бележки под линия|цитирани източници",
    "bn": "আরও দেখুন|আরো দেখুন|তথ্যসূত্র|পাদটীকা|টীকা|বহিঃসংযোগ|আরও পড়ুন|আরো পড়ুন|উৎস|গ্রন্থপঞ্জি",
    "bs": "također pogledajte|reference|vanjski linkovi|bilješke|izvori|dodatna literatura",
    "ca": "vegeu també|referències|notes i referències|notes|enllaços externs|bibliografia|fonts"
    "|per a més informació|bibliografia complementària|bibliografia addicional",
    "cs": "související články|reference|poznámky|odkazy|externí odkazy|zdroje|viz též|poznámky a reference"
    "|použitá literatura|další literatura|související stránky|bibliografie",
    "cy": "gweler hefyd|cyfeiriadau|dolenni allanol|ffynonellau|nodiadau|darllen pellach|llyfryddiaeth",
    "da": "se også|referencer|noter|kilder|kilder og henvisninger|eksterne henvisninger|eksterne links"
    "|henvisninger|noter og referencer|fodnoter|litteratur|kilder/henvisninger|yderligere læsning"
    "|referencer og noter",
    "de": "siehe auch|einzelnachweise|weblinks|literatur|quellen|anmerkungen|fußnoten|einzelbelege|belege"
    "|anmerkungen und einzelnachweise|einzelnachweise und anmerkungen|referenzen|externe links|nachweise"
    "|quellen und literatur|literatur und quellen|weiterführende literatur|fussnoten|quellenangaben"
    "|weiterführende links|literaturhinweise|quellenverzeichnis",
    "el": "δείτε επίσης|βλέπε επίσης|παραπομπές|σημειώσεις|πηγές|εξωτερικοί σύνδεσμοι|βιβλιογραφία"
    "|υποσημειώσεις|αναφορές|περαιτέρω ανάγνωση|παραπομπές και σημειώσεις|σημειώσεις και παραπομπές",
    "en": "see also|references|reference|notes|footnotes|further reading|external links|external link"
    "|bibliography|sources|source|notes and references|references and notes|notes and sources|citations"
    "|works cited|references and further reading|references and external links"
    "|external links and references|further reading and external links|footnotes and references"
    "|citations and notes|notes and citations|references and sources|sources and references"
    "|sources and further reading|cited sources|cited works|general references|general sources|endnotes"
    "|notes and footnotes|references and footnotes|related links|explanatory notes|references cited"
    "|bibliography and further reading|sources and notes|references/notes|selected bibliography"
    "|works cited and further reading|primary sources|secondary sources|additional reading"
    "|bibliography and references|references and bibliography|see also and references"
    "|notes, references and sources|informational notes|explanatory footnotes|literature cited"
    "|related reading|suggested reading|weblinks",
    "eo": "vidu ankaŭ|referencoj|notoj|notoj kaj referencoj|fontoj|piednotoj|eksteraj ligiloj|bibliografio"
    "|plia legado|rilataj artikoloj",
    "es": "véase también|referencias|notas|notas y referencias|referencias y notas|enlaces externos"
    "|bibliografía|fuentes|lecturas adicionales|lectura adicional|bibliografía adicional"
    "|bibliografía y referencias|notas al pie|ver también|vea también|citas y referencias|otras lecturas"
    "|referencias generales|bibliografía complementaria|enlaces relacionados|bibliografía utilizada"
    "|referencias bibliográficas",
    "et": "vaata ka|viited|allikad|märkused|välislingid|kirjandus|lisalugemist",
    "eu": "ikus, gainera|ikus gainera|erreferentziak|oharrak|kanpo estekak|bibliografia|iturriak"
    "|oharrak eta erreferentziak|kanpo loturak|gehiago irakurtzeko",
    "fa": "جستارهای وابسته|پانویس|منابع|منبع|پانوشت|پیوند به بیرون|پیوندهای بیرونی|یادداشت‌ها|یادداشت"
    "|ارجاعات|مطالعه بیشتر|برای مطالعه بیشتر|کتابشناسی|کتاب‌شناسی|پانویس‌ها|نگاه کنید به",
    "fi": "katso myös|lähteet|viitteet|aiheesta muualla|kirjallisuutta|huomautukset|kirjallisuus"
    "|alaviitteet|viitteet ja lähteet|lähteet ja viitteet|muualla verkossa|selitykset|ulkoiset linkit",
    "fr": "voir aussi|références|notes et références|notes|liens externes|lien externe|bibliographie"
    "|sources|articles connexes|article connexe|annexes|références et notes|notes et sources"
    "|voir également|sources et références|bibliographie indicative|lectures complémentaires|ouvrages"
    "|sources et bibliographie|références bibliographiques|bibliographie complémentaire|pour approfondir"
    "|notes, sources et références",
    "ga": "féach freisin|tagairtí|naisc sheachtracha|nótaí|foinsí|léamh breise|naisc",
    "gl": "véxase tamén|notas|notas e referencias|ligazóns externas|bibliografía|outros artigos|referencias|fontes",
    "he": "ראו גם|הערות שוליים|קישורים חיצוניים|לקריאה נוספת|ביבליוגרפיה|מקורות|הערות|ספרות",
    "hi": "इन्हें भी देखें|इन्हें भी देखे|यह भी देखें|सन्दर्भ|संदर्भ|टिप्पणियाँ|बाहरी कड़ियाँ|बाहरी कड़ी|स्रोत"
    "|पाद टिप्पणी|अग्रिम पठन|आगे पढ़ें|आगे पढ़ने के लिए|ग्रन्थसूची|ग्रंथसूची|टिप्पणी|टिप्पणी और संदर्भ",
    "hr": "vidi još|vidi|povezani članci|izvori|bilješke|vanjske poveznice|unutarnje poveznice|poveznice"
    "|bibliografija|bilješke i literatura|bilješke i izvori|dodatna literatura|povezano",
    "hu": "lásd még|jegyzetek|források|további információk|forrás|hivatkozások|irodalom|külső hivatkozások"
    "|kapcsolódó szócikkek|kapcsolódó cikkek|ajánlott irodalom|lábjegyzetek|források és jegyzetek"
    "|felhasznált irodalom|jegyzetek és források|bibliográfia|további olvasnivalók|megjegyzések",
    "hy": "տես նաև|ծանոթագրություններ|արտաքին հղումներ|աղբյուրներ|գրականություն|նշումներ",
    "id": "lihat pula|lihat juga|referensi|catatan|catatan kaki|pranala luar|bacaan lanjutan"
    "|daftar pustaka|sumber|rujukan|pustaka|bacaan lebih lanjut|kepustakaan|catatan dan referensi"
    "|bibliografi",
    "is": "tengt efni|tenglar|heimildir|tilvísanir|neðanmálsgreinar|ytri tenglar|frekari lestur",
    "it": "note|voci correlate|collegamenti esterni|bibliografia|altri progetti|fonti|riferimenti"
    "|note e riferimenti|note bibliografiche|annotazioni|esplicative|bibliografiche|fonti e bibliografia"
    "|bibliografia e fonti|riferimenti bibliografici|approfondimenti bibliografici|fonti bibliografiche",
    "ja": "脚注|注釈|出典|参考文献|関連項目|外部リンク|関連文献|関連書籍|注|註|脚註|注釈・出典|脚注・出典"
    "|注記|参照|資料|注釈と出典|出典・脚注|参考資料|関連リンク|引用文献|出典・参考文献|参考図書|注・出典"
    "|関連記事",
    "ka": "იხილეთ აგრეთვე|სქოლიო|რესურსები ინტერნეტში|ლიტერატურა|წყაროები|შენიშვნები",
    "kk": "тағы қараңыз|дереккөздер|сілтемелер|сыртқы сілтемелер|әдебиет|пайдаланған әдебиет|ескертпелер",
    "ko": "같이 보기|각주|참고 문헌|참고문헌|외부 링크|바깥 고리|주석|출처|참고 자료|각주 및 참고 문헌"
    "|내용주|참조주|더 읽어보기|참고|더 읽을거리|관련 문헌|각주 및 출처|관련 항목|인용 문헌|주해",
    "la": "notae|nexus externi|fontes|bibliographia|pinacotheca|nexus interni|vide etiam|si vis plura legere",
    "lt": "taip pat skaitykite|taip pat žiūrėkite|šaltiniai|nuorodos|išnašos|išorinės nuorodos|pastabos",
    "ltg": "ruodeit ari|nūruodis|olūti|īsoka|teiklavītys|teiklavītys saitys|īsokys|olūti i nūruodis",
    "lv": "skatīt arī|atsauces|piezīmes|ārējās saites|avoti|piezīmes un atsauces|atsauces un piezīmes"
    "|papildu literatūra|literatūra",
    "mk": "поврзано|наводи|наводи и белешки|белешки|надворешни врски|извори|библиографија|поврзани статии"
    "|дополнителна книжевност|видете исто така|дополнително читање|литература",
    "ml": "ഇതും കാണുക|അവലംബം|അവലംബങ്ങൾ|കുറിപ്പുകൾ|പുറത്തേക്കുള്ള കണ്ണികൾ|പുറം കണ്ണികൾ|ഗ്രന്ഥസൂചി|കൂടുതൽ വായനക്ക്",
    "mr": "हे सुद्धा पहा|हेही पाहा|संदर्भ|संदर्भ व नोंदी|बाह्य दुवे|संदर्भ आणि नोंदी|नोंदी|संदर्भ यादी",
    "ms": "lihat juga|rujukan|nota|nota kaki|pautan luar|bacaan lanjut|sumber|bacaan tambahan|catatan",
    "nl": "zie ook|referenties|bronnen|voetnoten|noten|externe links|externe link|externe koppelingen"
    "|literatuur|bronvermelding|bronnen en referenties|bronnen, noten en/of referenties"
    "|noten en referenties|verder lezen|geraadpleegde literatuur|voetnoot|bronnen, noten en referenties"
    "|verwijzingen|bron|aanbevolen literatuur",
    "nn": "sjå òg|sjå også|referansar|kjelder|fotnotar|bakgrunnsstoff|eksterne lenkjer|litteratur|notar",
    "no": "se også|referanser|noter|kilder|fotnoter|litteratur|eksterne lenker|noter og referanser"
    "|eksterne linker|referanser og noter|kilder og referanser|videre lesning|kilder og eksterne lenker"
    "|referanselitteratur",
    "pl": "zobacz też|zobacz także|przypisy|uwagi|bibliografia|linki zewnętrzne|źródła"
    "|literatura dodatkowa|literatura uzupełniająca|wybrana literatura|uwagi i przypisy"
    "|przypisy i bibliografia|przypisy i uwagi",
    "pt": "ver também|referências|notas|notas e referências|ligações externas|bibliografia"
    "|leitura adicional|referências bibliográficas|fontes|links externos|veja também|leituras adicionais"
    "|referências e notas|bibliografia adicional|leitura complementar|referências gerais|notas de rodapé"
    "|vide também|ligação externa|bibliografia utilizada|referência|hiperligações externas"
    "|citações e notas",
    "ro": "vezi și|vezi şi|note|referințe|referinţe|note și referințe|note şi referinţe|bibliografie"
    "|legături externe|legături exterioare|lectură suplimentară|lecturi suplimentare|surse"
    "|note bibliografice",
    "ru": "см. также|примечания|литература|ссылки|источники|комментарии|примечания и ссылки|сноски"
    "|внешние ссылки|использованная литература|библиография|ссылки и примечания|смотрите также"
    "|дополнительная литература|рекомендуемая литература|источники и литература|литература и источники"
    "|литература и ссылки|ссылки и литература|примечания и источники|список литературы|смотри также",
    "sh": "povezano|reference|izvori|vanjske veze|vanjske poveznice|bilješke|vidi još|spoljašnje veze",
    "simple": "related pages|other websites|more reading|other pages|related websites|other website",
    "sk": "pozri aj|referencie|poznámky|externé odkazy|iné projekty|zdroje|poznámky a referencie|zdroj"
    "|referencie a bibliografia|bibliografia|ďalšia literatúra|súvisiace články|použitá literatúra"
    "|zdroje a odkazy",
    "sl": "glej tudi|sklici|opombe|viri|zunanje povezave|opombe in sklici|sklici in opombe|viri in opombe"
    "|nadaljnje branje|reference|opombe in viri|dodatna literatura|nadaljnje čitanje",
    "sq": "shiko edhe|shih edhe|referime|referimet|burimet|burime|lidhje të jashtme|shënime"
    "|shënime dhe referime|bibliografia|lexime të mëtejshme|lidhjet e jashtme",
    "sr": "види још|види|референце|напомене|спољашње везе|извори|литература|библиографија|белешке"
    "|види такође|vidi još|vidi|reference|napomene|spoljašnje veze|izvori|beleške|spoljne veze|спољне везе"
    "|фусноте",
    "sv": "se även|se också|referenser|noter|källor|externa länkar|fotnoter|litteratur|vidare läsning"
    "|noter och referenser|källhänvisningar|källförteckning|källor och referenser|anmärkningar|källa"
    "|tryckta källor|webbkällor|kommentarer|övriga källor|allmänna källor|källor och noter"
    "|noter och källor",
    "ta": "மேற்கோள்கள்|வெளி இணைப்புகள்|இவற்றையும் பார்க்க|குறிப்புகள்|உசாத்துணை|மேலும் பார்க்க|இவற்றையும் பார்க்கவும்|சான்றுகள்"
    "|உசாத்துணைகள்|ஆதாரங்கள்|மேலும் படிக்க",
    "te": "ఇవి కూడా చూడండి|మూలాలు|బయటి లింకులు|వెలుపలి లంకెలు|బయటి లంకెలు|గమనికలు|వనరులు|నోట్సు",
    "th": "ดูเพิ่ม|อ้างอิง|แหล่งข้อมูลอื่น|หมายเหตุ|เชิงอรรถ|บรรณานุกรม|แหล่งอ้างอิง|อ่านเพิ่ม|เชิงอรรถและอ้างอิง"
    "|รายการอ้างอิง|หมายเหตุและอ้างอิง|เอกสารอ้างอิง|หนังสืออ่านเพิ่มเติม|ดูเพิ่มเติม",
    "tl": "tingnan din|mga sanggunian|sanggunian|mga kawing panlabas|talasanggunian|mga tala|mga panlabas na link",
    "tr": "ayrıca bakınız|kaynakça|notlar|dış bağlantılar|kaynaklar|dipnotlar|konuyla ilgili yayınlar"
    "|bibliyografya|referanslar|notlar ve kaynakça|ayrıca bkz|genel kaynaklar|ek okumalar|ileri okuma",
    "uk": "див. також|примітки|джерела|посилання|зноски|виноски|бібліографія|примітки та джерела"
    "|література|джерела та література|література та джерела|дивіться також|джерела та примітки"
    "|джерела і посилання|зовнішні посилання|дивись також|рекомендована література|примітки та посилання"
    "|література та посилання",
    "ur": "مزید دیکھیے|مزید دیکھئے|حوالہ جات|بیرونی روابط|مزید پڑھیے|ملاحظات|کتابیات|حواشی|مآخذ",
    "uz": "yana qarang|manbalar|havolalar|izohlar|adabiyotlar",
    "vi": "xem thêm|tham khảo|chú thích|liên kết ngoài|ghi chú|đọc thêm|nguồn|thư mục|nguồn tham khảo"
    "|chú giải|tài liệu tham khảo|chú thích và tham khảo|ghi chú và tham khảo|sách tham khảo"
    "|chú thích nguồn",
    "war": "kitaa liwat|mga kasarigan|mga sumpay ha gawas|toltolan|mga pinanbasaran|kasarigan",
    "zh": "参见|參見|参看|參看|注释|註釋|註解|注解|参考文献|參考文獻|参考资料|參考資料|外部链接|外部連結"
    "|脚注|腳註|延伸阅读|延伸閱讀|备注|備註|资料来源|資料來源|引用|相关条目|相關條目|来源|來源|附注|附註"
    "|扩展阅读|擴展閱讀|参考|參考|注释与参考文献|参考书目|參考書目|註釋與參考文獻|外部鏈接|外部连接"
    "|外部連接|相关链接|相關連結|注脚|註腳|参考来源|參考來源|參照|参照|參考文獻與註釋|參考連結",
}
"""Titles of sections without prose of the article."""

NAMESPACES: dict[str, str] = {
    "af": "lêer|beeld|kategorie",
    "an": "imachen|imaxen|archivo|categoría",
    "ar": "ملف|صورة|وسائط|تصنيف",
    "arz": "ملف|صورة|ميديا|تصنيف",
    "ast": "imaxe|ficheru|categoría|archivu",
    "az": "şəkil|fayl|media|kateqoriya",
    "ba": "файл|рәсем|категория|төркөм",
    "be": "файл|выява|катэгорыя|медыя|мультымедыя",
    "bg": "файл|картинка|медия|категория",
    "bn": "চিত্র|মিডিয়া|বিষয়শ্রেণী|ফাইল",
    "br": "restr|skeudenn|rummad",
    "bs": "datoteka|slika|medij|kategorija",
    "ca": "fitxer|imatge|mèdia|categoria",
    "ce": "файл|медиа|кадегар|категори",
    "ceb": "payl|imahen|medya|kategoriya",
    "cs": "soubor|média|kategorie",
    "cy": "delwedd|categori",
    "da": "fil|billede|kategori",
    "de": "datei|bild|medium|kategorie",
    "el": "αρχείο|εικόνα|μέσο|κατηγορία",
    "en": "file|image|media|category",
    "eo": "dosiero|kategorio|aŭdvidaĵo",
    "es": "archivo|imagen|medio|categoría|categoria",
    "et": "pilt|fail|meedia|kategooria",
    "eu": "fitxategi|irudi|kategoria|media",
    "fa": "پرونده|تصویر|مدیا|رسانه|رده",
    "fi": "tiedosto|kuva|luokka",
    "fr": "fichier|média|catégorie|categorie",
    "ga": "íomhá|meán|catagóir|rang",
    "gl": "ficheiro|imaxe|arquivo|categoría",
    "he": "קובץ|תמונה|מדיה|קטגוריה",
    "hi": "चित्र|मीडिया|श्रेणी|फ़ाइल",
    "hr": "datoteka|slika|mediji|kategorija",
    "hu": "fájl|kép|média|kategória",
    "hy": "պատկեր|մեդիա|կատեգորիա",
    "id": "berkas|gambar|kategori",
    "is": "mynd|miðill|flokkur",
    "it": "file|immagine|categoria",
    "ja": "ファイル|画像|メディア|カテゴリ",
    "ka": "ფაილი|სურათი|მედია|კატეგორია",
    "kk": "сурет|файл|таспа|санат|медиа",
    "ko": "파일|그림|미디어|분류",
    "la": "fasciculus|imago|categoria",
    "lb": "fichier|bild|kategorie",
    "lt": "vaizdas|kategorija|medija",
    "ltg": "fails|medeja|kategoreja",
    "lv": "attēls|kategorija|fails",
    "mk": "податотека|слика|медиум|медија|категорија",
    "ml": "പ്രമാണം|ചിത്രം|മീഡിയ|വർഗ്ഗം|വി",
    "mr": "चित्र|मिडिया|वर्ग",
    "ms": "fail|imej|kategori",
    "my": "ဖိုင်|မီဒီယာ|ကဏ္ဍ",
    "nds": "bild|kategorie",
    "nl": "bestand|afbeelding|categorie",
    "nn": "fil|bilde|kategori|filpeikar",
    "no": "fil|bilde|medium|kategori",
    "oc": "fichièr|imatge|categoria|mèdia",
    "pl": "plik|grafika|kategoria",
    "pt": "ficheiro|arquivo|imagem|multimédia|categoria",
    "ro": "fișier|fişier|imagine|categorie",
    "ru": "файл|изображение|медиа|категория",
    "sh": "datoteka|slika|mediji|kategorija|датотека",
    "sk": "súbor|obrázok|médiá|kategória",
    "sl": "slika|datoteka|kategorija|medij",
    "sq": "skeda|figura|kategoria|figuri",
    "sr": "датотека|слика|медиј|медији|категорија|datoteka|slika|medij|kategorija",
    "sv": "fil|bild|kategori",
    "sw": "picha|faili|jamii",
    "ta": "படிமம்|ஊடகம்|பகுப்பு",
    "te": "దస్త్రం|బొమ్మ|ఫైలు|మీడియా|వర్గం",
    "tg": "акс|гурӯҳ",
    "th": "ไฟล์|ภาพ|สื่อ|หมวดหมู่",
    "tl": "talaksan|larawan|midya|kategorya",
    "tr": "dosya|resim|ortam|kategori",
    "tt": "файл|рәсем|төркем|медиа",
    "uk": "файл|зображення|медіа|категорія",
    "ur": "ملف|تصویر|فائل|وسیط|زمرہ",
    "uz": "fayl|tasvir|turkum|kategoriya|media",
    "vi": "tập tin|hình|phương tiện|thể loại|ảnh",
    "vo": "ragiv|magod|klad|media",
    "war": "fayl|paypay|kaarangay",
    "zh": "文件|档案|檔案|图像|圖像|图片|圖片|媒体|媒體|媒体文件|分类|分類",
}
"""Names and aliases of the namespaces File (formerly Image), Media and Category."""

MAGIC_WORDS: dict[str, str] = {
    "ar": "لا_فهرس|لافهرس|فهرس|لصق_فهرس|لا_تحرير_قسم|لا_معرض|فهرسة|لافهرسة|تصنيف_مخفي",
    "cs": "BEZOBSAHU|VŽDYOBSAH|OBSAH|BEZEDITOVATČÁST|SKRÝTKAT|BEZGALERIE",
    "de": "KEIN_INHALTSVERZEICHNIS|KEININHALTSVERZEICHNIS|INHALTSVERZEICHNIS|INHALTSVERZEICHNIS_ERZWINGEN"
    "|ABSCHNITTE_NICHT_BEARBEITEN|KEINE_GALERIE|KEINEGALERIE|VERSTECKTE_KATEGORIE|WARTUNGSKATEGORIE"
    "|INDEXIEREN|NICHT_INDEXIEREN|NEUER_ABSCHNITTSLINK|BEGRIFFSKLÄRUNG",
    "en": "NOTOC|TOC|FORCETOC|NOEDITSECTION|NOGALLERY|NEWSECTIONLINK|NONEWSECTIONLINK|NOCONTENTCONVERT"
    "|NOCC|NOTITLECONVERT|NOTC|START|END|INDEX|NOINDEX|STATICREDIRECT|HIDDENCAT|NOGLOBAL|DISAMBIG"
    "|EXPECTUNUSEDCATEGORY|EXPECTUNUSEDTEMPLATE|ARCHIVEDTALK|NOTALK|NOEDIT|NOTITLE|EXPECTEDUNCONNECTEDPAGE"
    "|EXPECTED_UNCONNECTED_PAGE",
    "es": "NOTDC|NO_TDC|TDC|FORZARTDC|FORZAR_TDC|NOEDITARSECCION|NOEDITARSECCIÓN|NOGALERÍA|SINGALERÍA"
    "|CATEGORÍAOCULTA|INDEXAR|NOINDEXAR|DESAMBIGUACIÓN",
    "fa": "بی‌فهرست|بافهرست|فهرست|بی‌بخش|بی‌نگارخانه|رده‌پنهان",
    "fi": "EISISÄLLYSLUETTELOA|SISÄLLYSLUETTELO|SISÄLLYSLUETTELOPAKOTUS|EIOSIOMUOKKAUSTA|EIGALLERIAA|PIILOLUOKKA",
    "fr": "AUCUNSOMMAIRE|AUCUNETDM|SOMMAIRE|TDM|FORCERSOMMAIRE|FORCERTDM|SECTIONNONEDITABLE|AUCUNEGALERIE"
    "|CATCACHEE|INDEXER|AUCUNINDEX|PASDETABLE|AUCUNEGALLERIE",
    "he": "ללא_תוכן_עניינים|ללא_תוכן|תוכן_עניינים|חייב_תוכן_עניינים|חייב_תוכן|ללא_עריכה|ללא_גלריה|קטגוריה_מוסתרת",
    "hu": "NINCSTARTALOMJEGYZÉK|NINCSTJ|TARTALOMJEGYZÉK|TJ|LEGYENTARTALOMJEGYZÉK|LEGYENTJ|NINCSSZERKESZTÉS"
    "|NINCSSZERK|NINCSGALÉRIA|REJTETTKAT",
    "it": "NOINDICE|INDICE|FORZAINDICE|NOGALLERIA|NOMODIFICASEZIONE|CATNASCOSTA|INDICIZZA|NONINDICIZZA",
    "ja": "目次非表示|目次強制|目次|節編集非表示|ギャラリー非表示|カテゴリー非表示|カテゴリ非表示",
    "ko": "목차숨김|목차보임|목차|갤러리숨김|부분편집숨김|숨은분류",
    "nl": "GEENINHOUD|GEEN_INHOUD|INHOUD|INHOUD_DWINGEN|FORCEERINHOUD|NIETBEWERKBARESECTIE|GEENGALERIJ"
    "|VERBORGENCAT|VERBORGEN_CAT",
    "pl": "BEZSPISU|ZESPISEM|SPIS|BEZEDYCJISEKCJI|BEZGALERII|KATUKRYTA|INDEKSUJ|NIEINDEKSUJ",
    "pt": "SEMTDC|SEMSUMARIO|SEMSUMÁRIO|TDC|SUMARIO|SUMÁRIO|FORCARTDC|FORÇARTDC|FORCARSUMARIO"
    "|FORÇARSUMÁRIO|NAOEDITARSECAO|NÃOEDITARSEÇÃO|SEMEDITARSEÇÃO|SEMGALERIA|CATOCULTA|CATEGORIAOCULTA"
    "|INDEXAR|NAOINDEXAR",
    "ru": "БЕЗ_ОГЛАВЛЕНИЯ|БЕЗ_ОГЛ|ОГЛАВЛЕНИЕ|ОГЛ|ОБЯЗАТЕЛЬНОЕ_ОГЛАВЛЕНИЕ|ОБЯЗ_ОГЛ"
    "|БЕЗ_РЕДАКТИРОВАНИЯ_РАЗДЕЛА|БЕЗ_ГАЛЕРЕИ|СКРЫТАЯ_КАТЕГОРИЯ|ИНДЕКС|БЕЗ_ИНДЕКСА",
    "sv": "INGENINNEHÅLLSFÖRTECKNING|INNEHÅLLSFÖRTECKNING|ALLTIDINNEHÅLLSFÖRTECKNING|INTEREDIGERASEKTION"
    "|INGETGALLERI|DOLDKAT",
    "tr": "İÇİNDEKİLERYOK|İÇİNDEKİLER|İÇİNDEKİLERZORUNLU|GALERİYOK|GİZLİKAT",
    "uk": "БЕЗ_ЗМІСТУ|ЗМІСТ|ОБОВ_ЗМІСТ|БЕЗ_РЕДАГУВ_РОЗДІЛУ|БЕЗ_ГАЛЕРЕЇ|ПРИХОВАНА_КАТЕГОРІЯ|ІНДЕКС",
    "vi": "MỤCLỤC|KHÔNGMỤCLỤC|LUÔNMỤCLỤC|KHÔNGNÚTSỬA",
    "zh": "无目录|無目錄|强显目录|強顯目錄|显示目录|目录|目錄|无段落编辑|不显示编辑段落|隐藏分类|隱藏分類"
    "|不转换内容|不转换标题",
}
"""Words between double underscores, which are never shown."""

INTERLANGUAGE = (
    "aa ab ace ady af ak als alt am ami an ang ann anp ar arc arq ary arz as ast atj av avk awa ay az azb "
    "ba ban bar bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bho bi bjn blk bm bn bo bpy br bs btm "
    "bug bxr ca cbk-zam cdo ce ceb ch cho chr chy ckb co cr crh cs csb cu cv cy da dag de dga din diq dk "
    "dsb dtp dty dv dz ee el eml en eo es et eu ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy ga "
    "gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv ha hak haw he hi hif ho hr hsb ht hu "
    "hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jp jv ka kaa kab kaj kbd kbp kcg "
    "kg kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij "
    "lld lmo ln lo lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj "
    "ms mt mus mwl my myv mzn na nah nan nap nb nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup "
    "nv ny oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro "
    "roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh shi shn shy si simple sk "
    "skr sl sm smn sn so sq sr srn ss st stq su sv sw syl szl szy ta tay tcy tdd te tet tg th ti tig tk "
    "tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu "
    "xal xh xmf yi yo yue za zea zgh zh zh-cfr zh-classical zh-cn zh-min-nan zh-tw zh-yue zu"
)
"""Prefixes of links to the same article in another language."""

VARIANTS = {
    "zh": "zh-hans zh-cn zh-sg zh-my zh zh-hant zh-tw zh-hk zh-mo",
    "gan": "gan-hans gan gan-hant",
    "wuu": "wuu-hans wuu wuu-hant",
    "ban": "ban ban-x-dharma ban-x-palmleaf ban-x-pku ban-bali",
    "crh": "crh-latn crh crh-cyrl crh-ro",
    "iu": "ike-cans iu ike-latn",
    "kk": "kk-cyrl kk-kz kk kk-latn kk-tr kk-arab kk-cn",
    "ku": "ku-latn ku ku-arab",
    "mni": "mni mni-mtei mni-beng",
    "sh": "sh-latn sh sh-cyrl",
    "shi": "shi-latn shi shi-tfng",
    "sr": "sr-ec sr-cyrl sr sr-el sr-latn",
    "tg": "tg-cyrl tg tg-latn",
    "tly": "tly tly-latn tly-cyrl",
    "uz": "uz-latn uz uz-cyrl",
    "zgh": "zgh zgh-tfng zgh-latn",
}
"""The variants of languages whose wikis have `-{…}-`, with the one that is shown first."""
