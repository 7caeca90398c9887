"""How the HTML report looks, graphs aside; colours are those of `svg.style.variables`."""

PAGE_CSS = """
*{box-sizing:border-box}
html{background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1.5rem clamp(.9rem,3vw,2.5rem) 4rem;max-width:1240px}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .4rem}
h2{font-size:1.25rem;line-height:1.3;margin:2.4rem 0 .7rem;padding-top:.7rem;border-top:1px solid var(--line)}
h3{font-size:1.03rem;margin:1.6rem 0 .5rem}
h1,h2,h3,nav,dt,summary{overflow-wrap:anywhere}
p,li,dd{max-width:78ch;overflow-wrap:anywhere}
ul{padding-left:1.2rem}
li{margin:.15rem 0}
a{color:var(--s0)}
nav ul{list-style:none;padding:0;margin:.6rem 0 0;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.92rem}
.simulated{margin:.6rem 0;padding:.45rem .8rem;border:1.5px solid var(--warn);border-radius:6px;display:inline-block}
.simulated strong{color:var(--warn);letter-spacing:.08em}
dl{display:grid;grid-template-columns:fit-content(40%) minmax(0,1fr);gap:.15rem 1.2rem;margin:.5rem 0}
dt{color:var(--soft)}
dd{margin:0}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.32rem .8rem .32rem 0;border-bottom:1px solid var(--line);
max-width:34rem;overflow-wrap:break-word}
th{color:var(--soft);font-weight:600;white-space:nowrap;vertical-align:bottom}
th.n,td.n{text-align:right;white-space:nowrap}
td:first-child{white-space:nowrap}
td.t{min-width:15rem;white-space:normal}
pre{background:var(--shade);border-radius:6px;padding:.7rem .9rem;overflow-x:auto;margin:.5rem 0;
font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.graphs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,460px),1fr));gap:1.4rem 2rem;margin:1rem 0}
figure{margin:0;min-width:0;break-inside:avoid}
figure.wide{grid-column:1/-1}
figure.wide svg.graph{min-width:640px}
figcaption{color:var(--soft);font-size:.83rem;line-height:1.4;margin-top:.3rem;overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--s0);padding:.2rem 0}
:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
@media (max-width:480px){html{font-size:14px}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .4rem}}
@media print{html{font-size:10.5px}body{max-width:none;padding:0}nav{display:none}.scroll{overflow:visible}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85em}
details::details-content{content-visibility:visible;display:block}
table{font-size:.8em}th,td.n,td:first-child{white-space:normal}td.t{min-width:0}td,th{padding-right:.5rem}
h2,h3{break-after:avoid}
.graphs{grid-template-columns:1fr 1fr}}
""".strip()
