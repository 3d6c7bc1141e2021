"""Normalised text: what every finding is computed from, with a way back to the original.

NFKC, case-folded, apostrophes, quotes and hyphens folded to ASCII, default-ignorable code points
removed, white space collapsed (DESIGN.md, gate semantics 1).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

_TRADITIONAL = (
    "請幫凍結帳賬戶註銷關閉郵電將為換買購儲號碼這個張們無沒還後謝煩勞駕鎖開門問嗎麼時"
    "間現馬盡發見丟遺盜讓說認識確設變轉動資額萬億兩幾樣處辦網線級別點過進運達選給續終"
    "統總經絡聯繫從來會對應該須願較難離護調費貸債價貨質責貴賣贖錢銀鐘錯長單嚴區卻參當"
    "萊樹橋東車軟輸體顯頁題類風險陽隨雖雜雙雲爾與舊藝蘭華葉衛裡裏複訊訂計記許訴試話誤"
    "諮證譯讀讚議誰課寫實審寶專尋導屬島幣幹廣廳強徵恆憑懷戰戲擇擔據損撥擊斷於暫書條極"
    "檔檢權歡歲歷歸決況減測準滿漢潤煙熱營獎獨獲環產畫異監盤眾礎禮種稅積穩窩競筆節範築"
    "簡簽籤糧納紙純細組絕維綁緊編緩縣繳罰義習聲職聽腦臨舉補裝規視覺觀誠論謹財販貼賀賴"
    "趕跡輕邊鄉釋針鋪鍵閱陸際靜預領頭顧飯館騙驗齊龍"
)
_SIMPLIFIED = (
    "请帮冻结账账户注销关闭邮电将为换买购储号码这个张们无没还后谢烦劳驾锁开门问吗么时"
    "间现马尽发见丢遗盗让说认识确设变转动资额万亿两几样处办网线级别点过进运达选给续终"
    "统总经络联系从来会对应该须愿较难离护调费贷债价货质责贵卖赎钱银钟错长单严区却参当"
    "莱树桥东车软输体显页题类风险阳随虽杂双云尔与旧艺兰华叶卫里里复讯订计记许诉试话误"
    "咨证译读赞议谁课写实审宝专寻导属岛币干广厅强征恒凭怀战戏择担据损拨击断于暂书条极"
    "档检权欢岁历归决况减测准满汉润烟热营奖独获环产画异监盘众础礼种税积稳窝竞笔节范筑"
    "简签签粮纳纸纯细组绝维绑紧编缓县缴罚义习声职听脑临举补装规视觉观诚论谨财贩贴贺赖"
    "赶迹轻边乡释针铺键阅陆际静预领头顾饭馆骗验齐龙"
)
"""Traditional characters of a bank's everyday words, and what they are folded to, one for one."""

_FOLDS = {
    **dict(zip(_TRADITIONAL, _SIMPLIFIED, strict=True)),
    **dict.fromkeys("‘’‚‛ʼʹ′`´΄\u1ffd᾽᾿῾‹›ꞌ", "'"),  # noqa: RUF001
    **dict.fromkeys("“”„‟«»″〝〞", '"'),
    **dict.fromkeys("‐‒–—―−﹘⁃", "-"),  # noqa: RUF001
}
"""What NFKC leaves apart, or (spacing accents, double primes) takes apart."""

_IGNORABLE_RANGES = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Default_Ignorable_Code_Point of the Unicode Character Database (DerivedCoreProperties.txt)."""


class Text(NamedTuple):
    """Folded text; `starts[i]`/`ends[i]` are the original offsets that folded character i came from."""

    original: str
    folded: str
    starts: Sequence[int]
    ends: Sequence[int]

    @property
    def plain(self) -> bool:
        """True if every folded character stands where its original does."""
        return isinstance(self.starts, range)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original [start, end) behind the folded [start, end); code points, end exclusive."""
        return (self.starts[start], self.ends[end - 1]) if start < end else (0, 0)


def is_ignorable(char: str) -> bool:
    """True for a default-ignorable code point (zero-width, bidi control, variation selector...)."""
    code = ord(char)
    return any(low <= code <= high for low, high in _IGNORABLE_RANGES)


@lru_cache(maxsize=65536)
def _fold_cluster(cluster: str) -> str:
    """Fold a base character with its combining marks; white space becomes one space each."""
    kept = "".join(_FOLDS.get(c, c) for c in cluster if not is_ignorable(c))
    folded = unicodedata.normalize("NFKC", kept).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    return "".join(" " if c.isspace() else _FOLDS.get(c, c) for c in folded if not is_ignorable(c))


@lru_cache(maxsize=65536)
def _joins(char: str) -> bool:
    """True if `char` may compose with what stands before it, or is nothing by itself.

    That is a mark or a conjoining vowel, as it is or behind NFKC (half-width kana, compatibility jamo).
    """
    first = unicodedata.normalize("NFKC", char)[0]
    marks = unicodedata.category(first).startswith("M") or first in _VOWELS
    return marks or "\u1160" <= first <= "\u11ff" or is_ignorable(char)


_VOWELS = "\U00016d67"
"""Letters outside of Hangul that compose with the one before them (Kirat Rai)."""


SLOW = "\uffff"
"""A noncharacter: marks a text that must be folded cluster by cluster."""


class _Folds(dict[int, str]):
    """Code point -> its folded character, or SLOW where one character does not become exactly one."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = SLOW if _joins(char) else _fold_cluster(char)
        self[code] = folded = folded if len(folded) == 1 else SLOW
        return folded


_TABLE = _Folds()


def normalise(original: str) -> Text:
    """Fold `original` and keep, for every folded character, the original span it came from."""
    folded = original.translate(_TABLE)
    if SLOW in folded or "  " in folded or folded[:1] == " " or folded[-1:] == " ":
        return _by_cluster(original)
    return Text(original, folded, range(len(folded)), range(1, len(folded) + 1))


def _clusters(original: str) -> list[tuple[int, int]]:
    """[start, end) of every base character with what composes with it."""
    bounds: list[tuple[int, int]] = []
    for index, char in enumerate(original):
        if bounds and _joins(char):
            bounds[-1] = (bounds[-1][0], index + 1)
        else:
            bounds.append((index, index + 1))
    return bounds


def _by_cluster(original: str) -> Text:
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(original):
        for char in _fold_cluster(original[start:end]):
            if char == " " and (not chars or chars[-1] == " "):
                continue
            chars.append(char)
            starts.append(start)
            ends.append(end)
    if chars and chars[-1] == " ":
        del chars[-1], starts[-1], ends[-1]
    return Text(original, "".join(chars), starts, ends)


def fold(text: str) -> str:
    """The folded form of `text` alone, for word lists and aliases."""
    return normalise(text).folded
