// Loaded before the launcher: it takes this Node for an older one, hands over to a child, and gets SIGHUP at the steps of
// the start, those of the child included. Its channel ends here in place of pm2: what comes through is printed, and answered.
import childProcess from 'node:child_process'
import { once } from 'node:events'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'

const CHILD_STEPS = ['/bin/intentd.mjs', '/src/cli/run/run.ts', '/src/config/load-config.ts']

if (process.env['INTENTD_LAUNCHER_PID'] === undefined) startAsOlder()
else await startAsChild()

function startAsOlder(): void {
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })
  // The launcher hands over only to another file than its own.
  process.execPath = fileURLToPath(import.meta.url)
  const { spawnSync, spawn } = childProcess
  Object.assign(childProcess, {
    spawnSync: afterSignal(spawnSync),
    spawn: afterSignal(spawn),
  })
  syncBuiltinESMExports()
  process.send = (message: unknown) => {
    console.log(`to pm2: ${JSON.stringify(message)}`)
    process.emit('message', `answer to ${String(message)}`, undefined)
    return true
  }
}

function afterSignal<T extends unknown[], R>(call: (...values: T) => R): (...values: T) => R {
  return (...values) => {
    process.kill(process.pid, 'SIGHUP')
    return call(...values)
  }
}

/** Nothing of the program is loaded before the launcher has taken the signal: its answer came after that. */
async function startAsChild(): Promise<void> {
  process.kill(process.ppid, 'SIGHUP')
  process.send?.('question')
  const [answer] = (await once(process, 'message')) as [unknown]
  console.log(`from pm2: ${JSON.stringify(answer)}`)
  registerHooks({
    load(url, context, next) {
      if (CHILD_STEPS.some((step) => url.endsWith(step))) process.kill(process.ppid, 'SIGHUP')
      return next(url, context)
    },
  })
}
