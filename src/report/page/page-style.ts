import { SCROLL_STYLE } from './html.ts'

export const PAGE_STYLE = `
:root { color-scheme: light dark; --bg: #fbfbfa; --card: #fff; --text: #1d2126; --soft: #5f6873; --edge: #e2e4e7;
  --blue: #1f66d0; --grey: #8a929c; --red: #c23a2b; --good: #17784b; --bad: #b42a1c; --teal: #0c8a83; --orange: #cf6a12;
  --violet: #7a4fc4; --magenta: #b4307c; --olive: #6f7a12; --heat-good: 23 120 75; --heat-bad: 194 58 43 }
@media (prefers-color-scheme: dark) { :root { --bg: #14171a; --card: #1b1f24; --text: #e6e8ea; --soft: #9aa4af;
  --edge: #2d333a; --blue: #6aa6ff; --grey: #8b949e; --red: #ff7b6b; --good: #4fc98d; --bad: #ff8a7a; --teal: #3fd0c4;
  --orange: #ffa047; --violet: #b795ff; --magenta: #ff86c3; --olive: #bccb4c; --heat-good: 79 201 141; --heat-bad: 255 123 107 } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 24px 20px 64px; max-width: 1180px; background: var(--bg); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif }
h1 { font-size: 24px; margin: 0 0 2px; overflow-wrap: anywhere } h2 { font-size: 18px; margin: 0 0 10px } h3 { font-size: 15px; margin: 18px 0 8px }
p { margin: 0 0 10px } .note, .sub { color: var(--soft); font-size: 13.5px; max-width: 75ch } .sub { margin-bottom: 18px }
section { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; padding: 18px 20px; margin: 0 0 16px }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 10px; margin: 0 0 16px }
.tile { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; padding: 10px 14px }
.tile span { display: block; color: var(--soft); font-size: 12.5px } .tile b { font-size: 21px; font-weight: 600; white-space: nowrap }
.tile small { display: block; color: var(--soft); font-size: 12px }
.good { color: var(--good) } .bad { color: var(--bad) }
${SCROLL_STYLE}
table { border-collapse: collapse; width: 100%; font-size: 13.5px }
th, td { padding: 5px 10px; text-align: right; border-bottom: 1px solid var(--edge); white-space: nowrap; font-variant-numeric: tabular-nums }
th { color: var(--soft); font-weight: 500 } th.text, td.text { text-align: left; white-space: normal; min-width: 110px }
td.text:first-child { font-weight: 500 } tbody tr:last-child td { border-bottom: 0 }
.formula td:nth-child(3) { color: var(--soft); min-width: 280px }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 28px } .pair > * { min-width: 0 }
ul { margin: 0; padding-left: 20px } li { margin: 0 0 5px; overflow-wrap: anywhere }
.chart { margin: 0 0 20px } .chart:last-child { margin-bottom: 0 }
figcaption { display: flex; flex-wrap: wrap; gap: 2px 16px; align-items: baseline; font-size: 13px; margin-bottom: 6px; min-height: 22px }
figcaption strong { font-size: 14px } figcaption time { color: var(--soft); font-variant-numeric: tabular-nums }
.key { color: var(--soft); white-space: nowrap } .key b { color: var(--text); margin-left: 5px; font-weight: 600; font-variant-numeric: tabular-nums }
.key i { display: inline-block; width: 14px; height: 0; border-top: 2px solid var(--c); vertical-align: 4px; margin-right: 5px }
.key i.dots { width: 7px; height: 7px; border: 0; border-radius: 50%; background: var(--c); vertical-align: 1px }
.key i.band, .key i.area { height: 9px; border: 0; background: var(--c); opacity: .35; vertical-align: 0 }
.frame { position: relative; padding-left: 62px } .plot { position: relative; border-bottom: 1px solid var(--edge) }
.plot svg { display: block; width: 100%; height: 100%; overflow: hidden }
.grid line { stroke: var(--edge); vector-effect: non-scaling-stroke }
path { vector-effect: non-scaling-stroke; fill: none } .line { stroke: var(--c); stroke-width: 1.6px; stroke-linejoin: round }
.area { fill: var(--c); opacity: .18 } .band { fill: var(--c); opacity: .22 }
.dots { stroke: var(--c); stroke-width: 4px; stroke-linecap: round; opacity: .7 }
.y { position: absolute; left: 0; width: 56px; text-align: right; font-size: 11.5px; color: var(--soft); transform: translateY(-50%); font-variant-numeric: tabular-nums; white-space: nowrap }
.xs { position: relative; height: 18px; margin-left: 62px; font-size: 11.5px; color: var(--soft) }
.xs span { position: absolute; transform: translateX(-50%); white-space: nowrap; top: 2px }
.cursor { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--soft); display: none; pointer-events: none }
.xs.ends span:first-child { transform: none } .xs.ends span:last-child { transform: translateX(-100%) }
.heat table { width: auto } .heat td { text-align: center; border: 2px solid var(--card); border-radius: 6px; min-width: 76px } .heat th { text-align: center }
.heat :is(th, td):first-child { width: 1px; min-width: 0; white-space: nowrap; text-align: left; position: sticky; left: 0; background: var(--card) }
.heat td[style] { background: rgb(var(--tint) / var(--strength)) }
.bars { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: 3px; height: 110px; align-items: stretch }
.bars div { position: relative } .bars i { position: absolute; left: 0; right: 0; background: var(--good); border-radius: 2px; min-height: 1px; opacity: .8 }
.bars i.down { background: var(--bad) } .bar-names { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: 3px; font-size: 11px; color: var(--soft); text-align: center }
.tabs > input { position: absolute; opacity: 0 } .tabs > label { display: inline-block; padding: 6px 16px; margin: 0 6px 14px 0; border: 1px solid var(--edge); border-radius: 999px; cursor: pointer; background: var(--card) }
.tabs > input:checked + label { border-color: var(--blue); color: var(--blue); font-weight: 600 } .tabs > input:focus-visible + label { outline: 2px solid var(--blue) }
.panel { display: none }
code { font: 12.5px/1.5 ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere }
pre { margin: 0; white-space: pre-wrap } pre .option { white-space: nowrap }
@media (max-width: 640px) { body { padding: 14px 10px 40px; font-size: 14px } section { padding: 14px 12px } .pair { grid-template-columns: 1fr }
  .tiles { grid-template-columns: 1fr 1fr } .tile b { font-size: 18px } .xs:not(.ends) span:nth-child(even) { display: none } .frame { padding-left: 50px } .xs { margin-left: 50px } .y { width: 45px; font-size: 10.5px }
  th, td { padding: 5px 7px } .heat td { min-width: 58px } .bar-names span:nth-child(even) { visibility: hidden } }
@media print { section { break-inside: avoid } body { max-width: none } }
`
