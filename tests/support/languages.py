"""The same sentence in several languages."""

from __future__ import annotations

TEXTS = {
    "en": "The city lies on the river, and its harbour was built in the nineteenth century by engineers from abroad. ",
    "de": "Die Stadt liegt am Fluss, und ihr Hafen wurde im neunzehnten Jahrhundert von fremden Ingenieuren gebaut. ",
    "et": "Linn asub jõe ääres ja selle sadama ehitasid üheksateistkümnendal sajandil välismaa insenerid. ",
    "el": "Η πόλη βρίσκεται δίπλα στο ποτάμι και το λιμάνι της χτίστηκε τον δέκατο ένατο αιώνα από ξένους μηχανικούς. ",
    "uk": "Місто лежить на річці, а його гавань збудували у дев'ятнадцятому столітті іноземні інженери. ",
    "ja": "この街は川のほとりにあり、その港は十九世紀に外国の技師たちによって造られました。",
    "zh": "这座城市位于河边，它的港口是十九世纪由外国工程师建造的。",
    "hy": "Քաղաքը գտնվում է գետի ափին, և նրա նավահանգիստը կառուցվել է տասնիններորդ դարում։ ",
}
