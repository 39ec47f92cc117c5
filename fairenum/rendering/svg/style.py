"""How drawings look on their own: the palette of Okabe and Ito, which is safe for the colour-blind."""

# tone-0 is ink; the others are told apart by shape, too
TONES = ("#1f2328", "#0072b2", "#d55e00", "#009e73", "#a8508a", "#8a6d00", "#767c85")

STYLE = (
    "svg{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;background:#fff}"
    "text{fill:#3d444d}.title{fill:#1f2328;font-weight:600}.tick{font-size:12px}.note{font-size:12px}"
    ".grid{stroke:#e6e8eb;fill:none}.axis{stroke:#8b949e;fill:none}"
    + "".join(
        f".tone-{place} :is(.dot,.bar,circle){{fill:{tone}}}.tone-{place} .wash{{fill:{tone};fill-opacity:.16}}"
        f".tone-{place} .hole{{stroke:{tone}}}.tone-{place} :is(.curve,.whisker,.thread){{stroke:{tone}}}"
        for place, tone in enumerate(TONES)
    )
    + ":is(.dot,circle){stroke:#fff}.hole{fill:#fff;stroke-width:2}"
    ".curve{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".dashed{stroke-dasharray:5 4;stroke-width:1.2}.whisker{fill:none;stroke-opacity:.55}.bar{fill-opacity:.75}"
)
