// Loaded before a daemon: sends it SIGHUP when each of these modules is loaded, which are the steps of its start.
import { registerHooks } from 'node:module'

const STEPS = ['/src/cli/main.ts', '/src/cli/run/run.ts', '/src/config/load-config.ts']

registerHooks({
  load(url, context, next) {
    if (STEPS.some((step) => url.endsWith(step))) process.kill(process.pid, 'SIGHUP')
    return next(url, context)
  },
})
