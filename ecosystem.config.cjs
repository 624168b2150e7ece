// pm2 start ecosystem.config.cjs                                       trades as config/live.yaml says
// INTENTD_CONFIG=config/paper.yaml pm2 start ecosystem.config.cjs      as another file does
// Fork mode, because cluster mode ignores `interpreter` and would run on pm2's own Node.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const program = path.join(__dirname, 'bin', 'intentd.mjs')
// With the pinned Node here the launcher runs the program in its own process: one pid for pm2.
const node = path.join(__dirname, 'node_modules', '.bin', 'node')

// Never what `run` takes by itself, which is paper: where this file is missing nothing is started.
const config = path.resolve(
  __dirname,
  process.env.INTENTD_CONFIG || path.join('config', 'live.yaml'),
)

// All that a daemon gets of the shell's environment: pm2 keeps what it gets in `dump.pm2`. Keys come from .env or files.
const kept = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'XDG_STATE_HOME',
  'NODE_EXTRA_CA_CERTS',
]

// pm2 writes its dump, its logs and its socket readable by all; nobody else gets into their directory.
if (process.env.PM2_USAGE === 'CLI') {
  try {
    fs.chmodSync(process.env.PM2_HOME || path.join(os.homedir(), '.pm2'), 0o700)
  } catch (error) {
    console.error(`the directory of pm2 stays open to others: ${error.message}`)
  }
}

module.exports = {
  apps: [
    {
      name: 'intentd',
      cwd: __dirname,
      script: program,
      args: ['run', '--config', config],
      interpreter: node,
      // The second: SIGUSR1 would open Node's inspector to every user of this machine.
      interpreter_args: ['--max-semi-space-size=2', '--disable-sigusr1'],
      exec_mode: 'fork',
      instances: 1,

      // "online" means recovered and polling, not merely started: intentd says `ready` itself.
      wait_ready: true,
      listen_timeout: 60_000,
      // Stopping cancels orders and settles what is unknown. It gives up by itself after the acceptance window
      // (35 s), 30 s, and 2 s for each instrument: what takes longer than this is stuck, and the journal makes the
      // kill safe. Enough for 20 instruments; raise it by 2 s for each one more, and as execution.acceptanceWindowMs.
      kill_timeout: 120_000,

      // Mistakes in the command, in a file that it names, and in the configuration: a start does not mend them.
      // What may pass by itself ends with another code (docs/start-and-stop.md). Never 0 in this list: pm2
      // reports a process killed by the kernel (out of memory) as code 0, and that one must return.
      autorestart: true,
      stop_exit_codes: [64, 65, 66, 71, 78],
      min_uptime: 10_000,
      max_restarts: 10,

      // A daemon takes some 200 MB. One that grows beyond this is stopped in good order and started again.
      max_memory_restart: '1G',

      // pm2 leaves out each variable whose name contains one of these, and then adds those of `env`.
      filter_env: ['INTENTD_', ...Object.keys(process.env)],
      env: Object.fromEntries(
        kept.filter((name) => process.env[name]).map((name) => [name, process.env[name]]),
      ),
      merge_logs: true,
    },
  ],
}
