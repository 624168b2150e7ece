import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

export interface PageFile {
  readonly type: string
  readonly body: Buffer<ArrayBuffer>
  readonly packed: Buffer<ArrayBuffer>
  readonly etag: string
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Other files below `page/` are not served. */
const OWN = [
  'style.css',
  'icon.svg',
  'app.js',
  'api.js',
  'live.js',
  'format.js',
  'confirm.js',
  'parts.js',
  'charts.js',
  'drawdowns.js',
  'move-chart.js',
  'screens/overview.js',
  'screens/requests.js',
  'screens/instrument.js',
  'screens/strategies.js',
  'screens/universe.js',
  'screens/closed-trades.js',
  'screens/orders.js',
  'screens/limits.js',
  'screens/shared-limits.js',
  'screens/journal.js',
  'screens/backtests.js',
  'screens/fleet.js',
] as const

const PACKAGES: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  htm: 'htm/dist/htm.mjs',
  'lightweight-charts': 'lightweight-charts/dist/lightweight-charts.standalone.production.mjs',
}

const pack = promisify(gzip)
const require = createRequire(import.meta.url)

export interface DashboardPage {
  readonly files: ReadonlyMap<string, PageFile>
  readonly policy: string
}

export async function loadPage(): Promise<DashboardPage> {
  const packages = Object.entries(PACKAGES).map(
    ([name, path]) => [name, `/vendor/${fileName(path)}`] as const,
  )
  const importMap = JSON.stringify({ imports: Object.fromEntries(packages) })
  const html = String(await readFile(ownFile('index.html'))).replace('IMPORT_MAP', () => importMap)
  const files = await Promise.all([
    buildFile('/', 'html', Buffer.from(html)),
    ...OWN.map(async (path) =>
      buildFile(`/${path}`, extension(path), await readFile(ownFile(path))),
    ),
    ...Object.values(PACKAGES).map(async (path) =>
      buildFile(`/vendor/${fileName(path)}`, extension(path), await readFile(packageFile(path))),
    ),
  ])
  return { files: new Map(files), policy: buildPolicy(importMap) }
}

export const PAGE_PATHS: readonly string[] = [
  '/',
  ...OWN.map((path) => `/${path}`),
  ...Object.values(PACKAGES).map((path) => `/vendor/${fileName(path)}`),
]

async function buildFile(
  path: string,
  kind: string,
  body: Buffer<ArrayBuffer>,
): Promise<[string, PageFile]> {
  const etag = `"${digest(body).slice(0, 22)}"`
  return [path, { type: TYPES[kind] ?? 'text/plain', body, packed: await pack(body), etag }]
}

/**
 * Scripts come from these files and the import map, requests go to this origin, and no text becomes
 * markup.
 */
function buildPolicy(importMap: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${digest(importMap)}'`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function digest(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('base64')
}

function ownFile(path: string): URL {
  return new URL(`./page/${path}`, import.meta.url)
}

/**
 * Taken from the nearest `node_modules` that has the file, because not every package lets its files
 * be resolved by name.
 */
function packageFile(path: string): string {
  const folders = require.resolve.paths(path) ?? []
  const file = folders
    .map((folder) => join(folder, path))
    .find((candidate) => existsSync(candidate))
  if (file === undefined) throw new Error(`a file of the dashboard is missing: ${path}`)
  return file
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function extension(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}
