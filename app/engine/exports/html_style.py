"""Style and keyboard of an exported run's page; both stand in the page and are named by hash in its policy."""

STYLE = """
:root{color-scheme:light dark;--paper:#f6f6f4;--card:#fff;--ink:#1d1f23;--soft:#5c626c;--line:#dcdcd6;--accent:#2457a6;
--bad:#a32020;--badback:#fbe9e7;--warn:#7d5300;--warnback:#fdf1d8;--hint:#4a515c;--hintback:#ecedf0;--good:#17693a;
--goodback:#e2f3e8;--code:#f0f0ec}
@media (prefers-color-scheme:dark){:root{--paper:#16181c;--card:#1f2228;--ink:#e6e7ea;--soft:#a0a6b1;--line:#343841;
--accent:#8ab4f8;--bad:#ff9d94;--badback:#3c2020;--warn:#f2c46b;--warnback:#392d14;--hint:#b9bfca;--hintback:#2c3038;
--good:#7fd6a2;--goodback:#173325;--code:#171a1f}}
*{box-sizing:border-box}
html{scroll-padding-top:3.6rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,"Segoe UI",
Roboto,"Noto Sans",sans-serif}
main,header.run{max-width:64rem;margin:0 auto;padding:0 1.25rem}
header.run{padding-top:2.2rem}
h1{font-size:1.65rem;line-height:1.25;margin:.2rem 0 .9rem;font-weight:650;text-wrap:balance}
h2{font-size:1.15rem;margin:2.2rem 0 .8rem}
h3{font-size:1.02rem;margin:0;font-weight:600;line-height:1.4}
p{margin:.5rem 0}
.over{color:var(--soft);font-size:.85rem;margin:0}
.words,.wrap{overflow-wrap:anywhere;white-space:pre-wrap}
.badges{display:flex;flex-wrap:wrap;gap:.45rem;margin:0 0 1.1rem;padding:0;list-style:none}
.badge{border-radius:1rem;padding:.12rem .7rem;font-size:.86rem;background:var(--hintback);color:var(--hint)}
.badge.good{background:var(--goodback);color:var(--good)}
.badge.bad,.badge.error{background:var(--badback);color:var(--bad)}
.badge.warning{background:var(--warnback);color:var(--warn)}
dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.7rem 1.5rem;margin:0;
border-top:1px solid var(--line);border-bottom:1px solid var(--line);padding:.9rem 0}
dl.facts div{min-width:0}
dt{font-size:.78rem;color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.panel{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.9rem 1.1rem;margin:1rem 0}
.panel h2{margin:0 0 .4rem;font-size:1rem}
ul.plain{list-style:none;margin:0;padding:0}
ul.plain>li{padding:.3rem 0}
ul.plain>li+li{border-top:1px solid var(--line)}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:.3rem}
nav{position:sticky;top:0;z-index:2;background:var(--paper);border-bottom:1px solid var(--line);margin-top:1.4rem}
nav ol{max-width:64rem;margin:0 auto;padding:.45rem 1.25rem;list-style:none;display:flex;gap:.2rem;overflow-x:auto;
scrollbar-width:thin}
nav a{display:block;min-width:1.9rem;text-align:center;padding:.15rem .35rem;border-radius:.4rem;text-decoration:none;
font-size:.85rem;font-variant-numeric:tabular-nums;color:var(--soft)}
nav a:hover{background:var(--hintback)}
nav a.error{background:var(--badback);color:var(--bad)}
nav a.warning{background:var(--warnback);color:var(--warn)}
nav a.hint{background:var(--hintback);color:var(--hint)}
article{background:var(--card);border:1px solid var(--line);border-radius:.6rem;margin:1rem 0;overflow:clip;
scroll-margin-top:3.6rem}
article:focus{outline:none}
article.current{border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.top{display:grid;grid-template-columns:auto 1fr;gap:0 .9rem;padding:.85rem 1.1rem .9rem}
.number{font-variant-numeric:tabular-nums;color:var(--soft);font-size:.95rem;line-height:1.5;min-width:1.6rem}
.body{min-width:0}
.address{color:var(--soft);font-size:.84rem;margin:.1rem 0 0;overflow-wrap:anywhere}
.reason{margin:.55rem 0 0;max-width:72ch}
.mark{border-radius:.4rem;padding:.35rem .7rem;margin:.5rem 0 0;font-size:.93rem;overflow-wrap:anywhere;
background:var(--hintback);color:var(--hint)}
.mark.error{background:var(--badback);color:var(--bad)}
.mark.warning{background:var(--warnback);color:var(--warn)}
.mark.good{background:var(--goodback);color:var(--good)}
.mark b{font-weight:650}
.mark .words{color:var(--ink)}
.mark details p{font-size:.85rem;margin:.2rem 0}
.picture{position:relative;border-top:1px solid var(--line);background:var(--code);line-height:0}
.picture img{display:block;width:100%;height:auto}
.picture svg{position:absolute;inset:0;width:100%;height:100%}
.picture rect.halo{fill:none;stroke:#fff;stroke-width:5;vector-effect:non-scaling-stroke;opacity:.85}
.picture rect.box{fill:none;stroke:#d3261d;stroke-width:2.5;vector-effect:non-scaling-stroke}
figure{margin:0}
figcaption{font-size:.8rem;color:var(--soft);padding:.4rem 1.1rem;border-top:1px solid var(--line);line-height:1.4}
pre{margin:0;padding:.8rem 1.1rem;background:var(--code);border-top:1px solid var(--line);overflow:auto;
max-height:24rem;font:.8rem/1.5 ui-monospace,"Cascadia Mono","DejaVu Sans Mono",monospace;tab-size:2;white-space:pre}
pre mark{background:var(--warnback);color:var(--warn)}
details summary{cursor:pointer;color:var(--soft);font-size:.88rem;padding:.15rem 0}
.tip{margin:.4rem 0;padding-inline-start:.8rem;border-inline-start:3px solid var(--accent)}
footer{max-width:64rem;margin:2.5rem auto 3rem;padding:0 1.25rem;color:var(--soft);font-size:.84rem}
kbd{border:1px solid var(--line);border-bottom-width:2px;border-radius:.25rem;padding:0 .35rem;background:var(--card);
font:inherit}
@media (max-width:34rem){body{font-size:15px}h1{font-size:1.35rem}main,header.run,footer{padding-inline:.8rem}
.top{padding:.75rem .85rem}nav ol{padding-inline:.8rem}dl.facts{grid-template-columns:1fr 1fr;gap:.6rem .9rem}}
@media print{:root{color-scheme:light}nav,.keys{display:none}article{break-inside:avoid;box-shadow:none}
body{background:#fff;font-size:11pt}pre{max-height:none;white-space:pre-wrap}}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
"""

SCRIPT = """
(function(){
var all=Array.prototype.slice.call(document.querySelectorAll("article"));var at=-1;
function go(to){if(!all.length)return;to=Math.max(0,Math.min(all.length-1,to));
if(at>=0)all[at].classList.remove("current");at=to;all[at].classList.add("current");
all[at].focus({preventScroll:true});all[at].scrollIntoView({block:"start"});}
function near(){for(var i=0;i<all.length;i++)if(all[i].getBoundingClientRect().bottom>80)return i;return all.length-1;}
document.addEventListener("keydown",function(e){if(e.ctrlKey||e.metaKey||e.altKey)return;
if(e.key==="j"){go(at<0?near():at+1);e.preventDefault();}
else if(e.key==="k"){go(at<0?near():at-1);e.preventDefault();}});
document.addEventListener("focusin",function(e){var a=e.target.closest("article");
if(a&&all.indexOf(a)>=0&&all.indexOf(a)!==at){if(at>=0)all[at].classList.remove("current");at=all.indexOf(a);}});
})();
"""
