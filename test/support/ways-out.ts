import { join } from 'node:path'

const OURS = join(import.meta.dirname, '../../src')

/**
 * Strategy code beside `tricks.cjs` ({@link TRICKS}). It declares `attempts`, and `findReached`,
 * which makes them and names the successful ones.
 */
export function waysOut(folder: string, secret: string): string {
  return `
import tricks from './tricks.cjs'
const attempts = {
  ...tricks.attempts(${JSON.stringify(folder)}, ${JSON.stringify(secret)}),
  'import()': () => import('node:fs'),
  'import() by eval': () => (0, eval)("import('node:fs')"),
  'import() by Function': () => new Function("return import('node:fs')")(),
  'import of data': () => import('data:text/javascript,export { readFileSync } from "node:fs"'),
  'import of WebAssembly': () => import('./tiny.wasm'),
  'import of WebAssembly as data': () => import('data:application/wasm;base64,AGFzbQEAAAA='),
  'import of a file': () => import(${JSON.stringify(secret)}),
  'import of this program': () => import(${JSON.stringify(join(OURS, 'lib/durable-file.ts'))}),
  'import of this program, another time': () => import(${JSON.stringify(join(OURS, 'strategy/load-strategy.ts'))} + '?again'),
  'import of its test kit': () => import('intentd/testing'),
  'the process by the constructor of a function': () => globalThis.constructor.constructor('return process')(),
  'the process by an object': () => ({}).constructor.constructor('return process.getBuiltinModule("fs")')(),
  'the console': () => console['_stdout'] ?? fail(),
  'fetch': () => fetch('http://127.0.0.1:1'),
  'WebAssembly': () => new WebAssembly.Memory({ initial: 1 }),
  'memory of others': () => Buffer.allocUnsafe(4096),
  'by methods that judge it': () => patched(() => import('node:fs')),
  'by methods that judge what is required': () => patched(() => tricks.require('fs')),
  'by methods that judge a file': () => patched(() => import(${JSON.stringify(secret)})),
  'by methods that judge a loaded file': () => patched(() => tricks.require.extensions['.js'](tricks.module, ${JSON.stringify(secret)})),
  'by methods that judge this program': () => patched(() => import(${JSON.stringify(join(OURS, 'lib/durable-file.ts'))} + '?patched')),
  'WebSocket': () => new WebSocket('ws://127.0.0.1:1'),
  'EventSource': () => new EventSource('http://127.0.0.1:1'),
  'BroadcastChannel': () => new BroadcastChannel('main'),
  'a worker': () => new Worker('data:text/javascript,'),
  'a channel': () => new MessageChannel(),
}
${PATCHED}
function fail() { throw new Error('refused') }
async function findReached() {
  const reached = []
  for (const [name, attempt] of Object.entries(attempts)) {
    try { await attempt(); reached.push(name) } catch (error) {
      if (String(error.stack).includes('canary')) reached.push(name + ': its text')
    }
  }
  return reached
}`
}

/** Replaces methods that might judge it by its own. */
const PATCHED = `
async function patched(attempt) {
  const isJs = { startsWith: () => true, endsWith: () => true, includes: () => false, indexOf: () => -1, slice: () => 'file:///x.js', replace: () => 'file:///x.js' }
  const all = [
    [String.prototype, isJs], [RegExp.prototype, { test: () => true, exec: () => [''] }],
    [Array.prototype, { some: () => false, every: () => true, includes: () => true }],
    [Set.prototype, { has: () => true }], [Map.prototype, { has: () => true }], [Reflect, { apply: () => undefined }],
  ]
  const before = all.map(([owner, methods]) => Object.fromEntries(Object.keys(methods).map((name) => [name, owner[name]])))
  const href = Object.getOwnPropertyDescriptor(URL.prototype, 'href')
  try {
    for (const [owner, methods] of all) Object.assign(owner, methods)
    Object.defineProperty(URL.prototype, 'href', { get: () => 'file:///x.js', configurable: true })
    return await attempt()
  } finally {
    for (let index = 0; index < all.length; index++) Object.assign(all[index][0], before[index])
    Object.defineProperty(URL.prototype, 'href', href)
  }
}`

/** A CommonJS file has `module` and `require`. */
export const TRICKS = `
exports.require = require
exports.module = module
const fail = () => { throw new Error('refused') }
exports.attempts = (folder, secret) => ({
  'require': () => require('fs'),
  'require with its scheme': () => require('node:child_process'),
  'require of an add-on': () => require(folder + '/addon.node'),
  'require of a file': () => require(secret),
  '_load': () => module.constructor._load('fs'),
  '_load of the prototype': () => Object.getPrototypeOf(module).constructor._load('fs'),
  'createRequire': () => module.constructor.createRequire(__filename)('fs'),
  'registerHooks': () => module.constructor.registerHooks({}),
  'register': () => module.constructor.register('data:text/javascript,'),
  'enableCompileCache': () => module.constructor.enableCompileCache(folder),
  'a resolver of its own': () => { module.constructor._resolveFilename = () => 'fs'; return module.constructor._load('anything') },
  'a resolver of its own, with a scheme': () => { module.constructor._resolveFilename = () => 'node:fs'; return module.constructor._load('anything') },
  'a loader of its own': () => { const { _extensions, _load } = module.constructor; return _extensions['.node'](module, folder + '/addon.node') },
  'a cache of its own': () => { module.constructor._cache['fs'] = undefined; return module.constructor._load('fs', undefined, true) },
  'the prototype of a list': () => { const seen = []; const { push } = Array.prototype; Array.prototype.push = function (...all) { seen.push(...all); return push.apply(this, all) }; try { require('./data.json') } finally { Array.prototype.push = push } return seen.find((one) => one?.binding) ?? fail() },
  'getBuiltinModule': () => process.getBuiltinModule('fs'),
  'binding': () => process.binding('fs'),
  'dlopen': () => process.dlopen(module, folder + '/addon.node'),
  'the loader of an add-on': () => Object.getPrototypeOf(module).load.call(Object.create(module, { loaded: { value: false } }), folder + '/addon.node'),
  'the loader of an ending': () => require.extensions['.node'](module, folder + '/addon.node'),
  'the loader of data': () => require.extensions['.json'](module, secret),
  'the loader of code': () => require.extensions['.js'](module, secret),
  'a pretended place': () => { module.filename = ${JSON.stringify(join(OURS, 'lib/clock.ts'))}; module.paths = []; return module.require('fs') },
  'a compiled file of a pretended place': () => module._compile('module.exports = require("fs")', ${JSON.stringify(join(OURS, 'lib/x.js'))}),
  'main': () => require.main.constructor._load('fs'),
  'the cache': () => Object.values(require.cache)[0].constructor._load('fs'),
  'a caller': () => (Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getThis()).find((one) => one?.binding ?? one?._load), new Error().stack ?? fail()),
})
`
