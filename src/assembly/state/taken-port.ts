import { createServer } from 'node:net'
import { messageOf } from '../../lib/failure.ts'
import { findPortHolder } from '../../lib/net/port-holder.ts'
import { findDaemon } from './running-files.ts'

/** @returns the reason why no program can listen there now */
export function whyTaken(host: string, port: number | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(nameHolder(messageOf(error), port)))
    server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  })
}

export function nameHolder(reason: string, port: number | undefined): string {
  if (port === undefined || !reason.includes('EADDRINUSE')) return reason
  const holder = findPortHolder(port)
  if (holder === undefined)
    return `${reason}; as root, \`ss -ltnp\` or \`lsof -nP -iTCP:${port} -sTCP:LISTEN\` names the program`
  const daemon = findDaemon(holder.pid)
  const who =
    daemon === undefined
      ? `${holder.program} (pid ${holder.pid})`
      : `the intentd ${daemon.name} (pid ${holder.pid}, state ${daemon.directory})`
  return `${reason}; ${who} listens there`
}
