"""Colours and strokes of graphs, light and dark.

The hues are those of Okabe and Ito (2008), told apart by all common kinds of colour vision; lines differ in dashes
and markers, too.
"""

from __future__ import annotations

SERIES = 6
"""Lines that can be told apart."""

_LIGHT = ("#0072b2", "#c44e00", "#007a5a", "#a8478a", "#7a6000", "#3b3b3b")
_DARK = ("#56b4e9", "#ff9f4a", "#2fd3a4", "#e79ccb", "#f0e442", "#d0d0d0")
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 2", "1 2")

_SHAPES = """
svg.graph{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
svg.graph text{fill:var(--ink);font-variant-numeric:tabular-nums}
svg.graph .title{font-size:14px;font-weight:600}
svg.graph .soft{fill:var(--soft);font-size:11px}
svg.graph .mono{font-size:11px}
svg.graph .halo{paint-order:stroke;stroke:var(--back,var(--paper));stroke-width:4px;stroke-linejoin:round}
svg.graph .best{font-weight:700}
svg.graph .warn{fill:var(--warn);font-size:11px;font-weight:700;letter-spacing:.08em}
svg.graph .grid{stroke:var(--line);stroke-width:1}
svg.graph .axis{stroke:var(--soft);stroke-width:1}
svg.graph .zero{stroke:var(--ink);stroke-width:1.2}
svg.graph .shade{fill:var(--shade)}
svg.graph .none{fill:var(--shade);stroke:var(--line)}
svg.graph .cell{stroke:var(--paper);stroke-width:2}
svg.graph .frame{fill:none;stroke:var(--ink);stroke-width:2}
svg.graph .curve{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
svg.graph .mark{stroke-width:1.4}
svg.graph .bar{stroke-width:1.4}
""".strip()


def graph_css() -> str:
    """Rules for `svg.graph`; the colours come as variables, see `variables`."""
    rows = [_SHAPES]
    for number in range(SERIES):
        rows.append(f"svg.graph .c{number}{{stroke:var(--s{number});stroke-dasharray:{_DASHES[number]}}}")
        rows.append(f"svg.graph .b{number}{{stroke:var(--s{number})}}")
        rows.append(f"svg.graph .m{number}{{stroke:var(--s{number});fill:var(--s{number})}}")
    return "\n".join(rows)


def variables(selector: str) -> str:
    """The colours of both schemes, chosen by what the reader prefers; paper is light."""
    light = _block(selector, _LIGHT, "#1b1f24", "#59636e", "#dfe3e8", "#eef1f4", "#ffffff", "#b3261e")
    dark = _block(selector, _DARK, "#e8eaed", "#a3adb8", "#363c44", "#23282e", "#15181c", "#ff8a80")
    return f"{light}\n@media screen and (prefers-color-scheme:dark){{{dark}}}"


def _block(
    selector: str, series: tuple[str, ...], ink: str, soft: str, line: str, shade: str, paper: str, warn: str
) -> str:
    colours = "".join(f"--s{number}:{colour};" for number, colour in enumerate(series))
    return (
        f"{selector}{{color-scheme:light dark;--ink:{ink};--soft:{soft};--line:{line};--shade:{shade};"
        f"--paper:{paper};--warn:{warn};{colours}}}"
    )
