"""Sentences in languages of several scripts, which no model has learned from."""
# ruff: noqa: RUF001 - the sentences are in their languages

SENTENCES = {
    "cs": "Včera večer jsme se dlouho procházeli podél řeky a mluvili o příští cestě do hor.",
    "de": "Gestern Abend gingen wir lange am Fluss entlang und sprachen über die nächste Reise.",
    "el": "Χθες το βράδυ περπατήσαμε δίπλα στο ποτάμι και μιλήσαμε για το ταξίδι του χρόνου.",
    "en": "Yesterday evening we walked along the river for a long time and talked of our journey.",
    "fi": "Eilen illalla kävelimme pitkään joen rannalla ja puhuimme seuraavasta matkasta.",
    "fr": "Hier soir nous avons longtemps marché au bord de la rivière en parlant du voyage.",
    "he": "אתמול בערב הלכנו לאורך הנהר ודיברנו על הטיול שלנו בקיץ הבא עם כל המשפחה.",
    "hi": "कल शाम हम नदी के किनारे बहुत देर तक टहले और अगली यात्रा के बारे में बात की।",
    "it": "Ieri sera abbiamo passeggiato a lungo vicino al fiume parlando del prossimo viaggio.",
    "ja": "昨日の夕方、私たちは川のそばを散歩しながら、次の旅行について長いこと話しました。",
    "ko": "어제 저녁 우리는 강가를 걸으며 다음 여행에 대해 오랫동안 이야기했습니다.",
    "ru": "Вчера вечером мы долго гуляли вдоль реки и говорили о будущей поездке на море.",
    "th": "เมื่อวานตอนเย็นเราเดินเล่นริมแม่น้ำและคุยกันเรื่องการเดินทางครั้งต่อไป",
    "tr": "Dün akşam nehir kıyısında uzun uzun yürüdük ve bir sonraki yolculuğu konuştuk.",
    "zh": "昨天晚上我们在河边散步,说了很久关于下一次旅行的事,大家都很高兴。",
}
