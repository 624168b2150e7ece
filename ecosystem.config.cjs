// pm2 start ecosystem.config.cjs                                       trades as config/live.yaml says
// INTENTD_CONFIG=config/paper.yaml pm2 start ecosystem.config.cjs      as another file does
// Fork mode, because cluster mode ignores `interpreter` and would run on pm2's own Node.

const path = require('node:path')

const program = path.join(__dirname, 'bin', 'intentd.mjs')
// With the pinned Node here the launcher runs the program in its own process: one pid for pm2.
const node = path.join(__dirname, 'node_modules', '.bin', 'node')

// Never what `run` takes by itself, which is paper: where this file is missing nothing is started.
const config = path.resolve(__dirname, process.env.INTENTD_CONFIG || path.join('config', 'live.yaml'))

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

      // pm2 writes the shell's environment into its dump file, readable by all. intentd reads .env itself.
      filter_env: ['INTENTD_'],
      merge_logs: true,
    },
  ],
}
