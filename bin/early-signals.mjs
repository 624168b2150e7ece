// The first import of the launcher: until the program listens itself, these signals would end the process or open it.

import { isatty } from 'node:tty'

// Without a listener Node answers SIGUSR1 by opening its inspector, where every user of the machine may run code in this
// process. From Node 22.14 on there is a flag for it too, which older ones refuse: whoever knows the version passes it.
process.on('SIGUSR1', () => {})

/** SIGHUP reloads a daemon. In a terminal, and for the other commands, it ends the program. */
export const isReloadedBySignal =
  ['run', 'standby'].includes(process.argv[2]) && ![0, 1, 2].some((file) => isatty(file))

// A daemon that has not begun reads its configuration later than this: there is nothing to reload.
if (isReloadedBySignal) process.on('SIGHUP', () => {})
