// pm2 start ecosystem.config.cjs
// Fork mode, because cluster mode ignores `interpreter` and would run on pm2's own Node.

const path = require('node:path')

module.exports = {
  apps: [
    {
      name: 'intentd',
      cwd: __dirname,
      script: path.join(__dirname, 'bin', 'intentd.mjs'),
      args: 'run',
      // With the pinned Node here the launcher runs the program in its own process: one pid for pm2.
      interpreter: path.join(__dirname, 'node_modules', '.bin', 'node'),
      exec_mode: 'fork',
      instances: 1,

      // "online" means recovered and polling, not merely started: intentd says `ready` itself.
      wait_ready: true,
      listen_timeout: 60_000,
      // Stopping cancels orders and settles what is unknown. The exchange remembers a clientOid for 20
      // minutes, but a stop that takes a minute is stuck, and the journal makes the kill safe.
      kill_timeout: 60_000,

      // 78 is a mistake in the configuration: starting again does not mend it. Never 0 in this list:
      // pm2 reports a process killed by the kernel (out of memory) as code 0, and that one must return.
      autorestart: true,
      stop_exit_codes: [78],
      min_uptime: 10_000,
      max_restarts: 10,

      // pm2 writes the shell's environment into its dump file, readable by all. intentd reads .env itself.
      filter_env: ['INTENTD_'],
      merge_logs: true,
    },
  ],
}
