/** The style of the page `/docs`. Its colors and sizes are those of the console. */
import { Html } from "./html.ts"

export const STYLE: Html = new Html(`
:root {
  color-scheme: light dark;
  --ink: light-dark(#16181d, #f2f4f8); --text: light-dark(#2b2f38, #d5d9e2); --muted: light-dark(#5d6678, #98a1b2);
  --line: light-dark(#e6e8ee, #262b36); --line-strong: light-dark(#d3d7e0, #363d4b);
  --bg: light-dark(#f6f7f9, #0f1218); --panel: light-dark(#fff, #161a22); --sunken: light-dark(#f2f3f7, #1c212b);
  --accent: light-dark(#4b3fd6, #9d94ff); --accent-soft: light-dark(#eeedfc, #262350); --accent-ink: light-dark(#3a2fb8, #b9b2ff);
  --get: light-dark(#0a6f84, #4cc3da); --string: light-dark(#96500a, #f0a356);
  --shadow: 0 1px 2px light-dark(rgb(20 24 40 / .06), rgb(0 0 0 / .4));
  --mono: "Geist Mono Variable", "Geist Mono", ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  font: 14px/20px "Geist Variable", Geist, Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  color: var(--text); background: var(--bg); scroll-padding-top: 24px; -webkit-text-size-adjust: 100%;
}
:root[data-theme="light"] { color-scheme: light }
:root[data-theme="dark"] { color-scheme: dark }
* { box-sizing: border-box }
body { margin: 0; display: grid; grid-template-columns: 264px minmax(0, 1fr) }
p, ul, dl, dd, figure { margin: 0; padding: 0 }
p { overflow-wrap: anywhere }
ul { list-style: none }
a { color: var(--accent-ink); text-underline-offset: 2px; text-decoration-color: color-mix(in srgb, currentColor 40%, transparent) }
a:hover { text-decoration-color: currentColor }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
main:focus { outline: none }
h1, h2, h3, h4 { color: var(--ink); margin: 0; font-weight: 620; letter-spacing: -.01em }
h1 { font-size: 26px; line-height: 34px }
h2 { font-size: 20px; line-height: 28px }
h3 { font-size: 17px; line-height: 24px }
h3 a { color: inherit; text-decoration: none }
h3 a:hover::after { content: " #" / ""; color: var(--muted) }
h4 { font-size: 12px; line-height: 16px; color: var(--muted); font-weight: 550; letter-spacing: 0; margin: 24px 0 2px }
code, pre { font-family: var(--mono); font-size: 12.5px }
p > code, .facts code, dd code { padding: 1px 5px; border-radius: 5px; background: var(--sunken); border: 1px solid var(--line); overflow-wrap: anywhere }
p a code { color: inherit }
button, input { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line-strong); border-radius: 7px; height: 34px; padding: 0 12px }
button { cursor: pointer; font-weight: 500 }
button:hover { border-color: var(--muted) }
.skip { position: fixed; z-index: 2; left: 12px; top: -60px; padding: 8px 12px; background: var(--panel); border-radius: 7px; box-shadow: var(--shadow) }
.skip:focus { top: 12px }
.brand { display: flex; align-items: center; gap: 10px; font-weight: 620; font-size: 16px; color: var(--ink); text-decoration: none }
.brand svg { color: var(--accent) }
.bar { display: none }
.method { font: 500 10.5px/16px var(--mono); letter-spacing: .02em; color: var(--accent-ink) }
.GET { color: var(--get) }

aside, aside:popover-open { position: sticky; inset: 0 auto auto 0; width: 264px; height: 100vh; margin: 0; padding: 20px 12px 12px; display: flex; flex-direction: column; gap: 12px; border: 0; border-right: 1px solid var(--line); background: var(--panel); color: inherit; overflow: hidden }
aside .brand { padding: 0 10px }
.search { position: relative; padding: 0 2px }
.search input { width: 100%; padding-right: 32px }
.search input::placeholder { color: var(--muted); opacity: 1 }
kbd { position: absolute; right: 10px; top: 8px; font: 12px/16px var(--mono); color: var(--muted); border: 1px solid var(--line); border-radius: 5px; padding: 0 6px }
.search input:focus + kbd, .search input:not(:placeholder-shown) + kbd { display: none }
#theme { display: flex; align-items: center; gap: 10px; padding: 0 10px; border-color: transparent; background: none; color: var(--muted); font-weight: 400 }
#theme:hover { background: var(--sunken) }
#found { font-size: 12px; line-height: 16px; color: var(--muted); padding: 0 10px }
#found:empty { display: none }
nav { flex: 1; overflow-y: auto; overscroll-behavior: contain; margin: 0 -12px; padding: 0 12px 12px; scrollbar-width: thin; scrollbar-color: var(--line-strong) transparent }
nav .title { display: block; padding: 14px 10px 4px; font-size: 12px; line-height: 16px; font-weight: 550; color: var(--muted); text-decoration: none }
nav .title:hover { color: var(--ink) }
nav > div:first-child .title { padding-top: 2px }
nav > div:last-child { border-top: 1px solid var(--line); margin-top: 12px; padding-top: 10px }
nav li a { display: flex; gap: 8px; justify-content: space-between; align-items: baseline; padding: 5px 10px; border-radius: 7px; color: var(--text); text-decoration: none; font-size: 13px }
nav li a:hover { background: var(--sunken) }
nav li a[aria-current] { background: var(--accent-soft); color: var(--accent-ink) }
nav :focus-visible { outline-offset: -2px }

main { width: 100%; max-width: 1304px; padding: 32px 32px 40vh }
#top p { max-width: 72ch; color: var(--muted); margin-top: 4px }
.facts-list { display: flex; flex-wrap: wrap; gap: 16px 48px; margin-top: 20px; padding: 16px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow) }
.facts-list dt { font-size: 12px; line-height: 16px; color: var(--muted); margin-bottom: 4px }
.facts-list dd { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 8px }
#top .facts-list p { margin: 0; color: inherit }
.group { padding: 56px 0 4px; scroll-margin-top: -24px }
.group > p { color: var(--muted); margin-top: 2px }
.entry { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 16px 40px; padding: 32px 0 36px; border-top: 1px solid var(--line) }
.group + .entry { border-top: 0; padding-top: 24px }
.at { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; margin: 6px 0 12px }
.at code, .at > .method { font-size: 13px; line-height: 20px }
.at code { padding: 0; border: 0; background: none; color: var(--ink) }
.scope { font-size: 12px; line-height: 20px; padding: 0 9px; border-radius: 99px; background: var(--sunken); color: var(--muted) }
.scope b { font-weight: 550; color: var(--text) }
.entry p + p { margin-top: 8px }

.fields > li { padding: 10px 0; border-top: 1px solid var(--line) }
.fields > li:first-child { border-top: 0 }
.fields > li > p:first-child { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 8px }
.fields > li > p:first-child > code { padding: 0; border: 0; background: none; color: var(--ink); font-weight: 550; font-size: 13px }
.fields i { font-style: normal; font-size: 12.5px; color: var(--muted) }
.fields em { font-style: normal; font-size: 12px; color: var(--muted) }
.sent em { color: var(--accent-ink) }
.fields p + p:not(.facts) { margin-top: 2px }
.list > details > p { max-width: 80ch; padding-top: 4px }
.facts { display: flex; flex-wrap: wrap; gap: 4px 14px; margin-top: 4px; font-size: 12.5px; color: var(--muted) }
.facts code { font-size: 12px; color: var(--text) }
details { margin-top: 6px }
summary { width: fit-content; max-width: 100%; cursor: pointer; font-size: 13px; color: var(--muted); padding: 2px 0; list-style: none; overflow-wrap: anywhere }
summary::-webkit-details-marker { display: none }
summary::before { content: "" / ""; display: inline-block; width: 5px; height: 5px; margin: 0 9px 2px 2px; border: solid currentColor; border-width: 0 1.5px 1.5px 0; rotate: -45deg; transition: rotate 120ms }
[open] > summary::before { rotate: 45deg }
summary:hover, [open] > summary { color: var(--ink) }
summary code { font-size: 12px }
details > :not(summary) { margin-left: 4px; padding-left: 14px; border-left: 1px solid var(--line-strong) }
.errors { margin-top: 16px; font-size: 12.5px; color: var(--muted) }
.errors a { margin-left: 8px; font-family: var(--mono); font-size: 12px }
.list { margin-top: 16px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow) }
.list > details { margin: 0; padding: 0 16px; border-top: 1px solid var(--line) }
.list > details:first-child { border-top: 0 }
.list > details > summary { width: 100%; padding: 10px 0; color: var(--ink) }
.list > details > div { margin: 0 0 16px 4px; max-width: 80ch; scroll-margin-top: 88px }

.samples { display: grid; gap: 16px; align-content: start; position: sticky; top: 24px; align-self: start }
figure { margin-top: 12px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow); overflow: hidden }
.samples figure { margin: 0 }
figcaption { display: flex; align-items: center; justify-content: space-between; gap: 8px; height: 38px; padding: 0 6px 0 14px; font-size: 13px; font-weight: 550; color: var(--ink) }
figcaption code { font-weight: 400; color: var(--muted) }
.copy { height: 26px; padding: 0 10px; font-size: 12px; border-color: transparent; background: none; color: var(--muted) }
.copy:hover { color: var(--ink); background: var(--sunken); border-color: transparent }
pre { margin: 0; padding: 12px 14px; line-height: 19px; border-top: 1px solid var(--line); background: var(--sunken); color: var(--ink); white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2 }
pre[tabindex] { max-height: min(440px, 56vh); overflow: auto; scrollbar-width: thin }
pre:focus-visible { outline-offset: -2px }
pre b { font-weight: 400; color: var(--get) }
pre i { font-style: normal; color: var(--string) }

@media (width < 1180px) {
  .entry { grid-template-columns: minmax(0, 1fr) }
  .samples { position: static }
}
@media (width < 860px) {
  :root { scroll-padding-top: 68px }
  body { display: block }
  .bar { display: flex; align-items: center; justify-content: space-between; position: sticky; top: 0; z-index: 1; height: 52px; padding: 0 16px; background: var(--panel); border-bottom: 1px solid var(--line) }
  aside:popover-open { position: fixed; inset: 0; width: 100%; max-width: 340px; height: 100%; max-height: none; box-shadow: 0 0 40px rgb(0 0 0 / .25) }
  aside:not(:popover-open) { display: none }
  aside::backdrop { background: rgb(10 12 18 / .4) }
  nav li a { padding: 9px 10px }
  main { padding: 20px 16px 30vh }
  kbd { display: none }
  .entry { padding: 28px 0 }
}
@media (scripting: none) { .search, .copy, #theme { display: none } }
@media (prefers-reduced-motion: reduce) { * { transition: none !important } }
@media print { aside, .bar, .copy { display: none } body { display: block } }
`)
