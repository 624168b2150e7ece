import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface PortHolder {
  readonly pid: number
  /** Only the name: arguments may be secrets. */
  readonly program: string
}

const LISTENING = '0A'
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']

/** Undefined outside Linux, and for another user's program. */
export function findPortHolder(port: number): PortHolder | undefined {
  const sockets = new Set(TABLES.flatMap((table) => listListening(table, port)))
  if (sockets.size === 0) return undefined
  for (const name of listNames('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || !holdsOne(pid, sockets)) continue
    return { pid, program: readText(`/proc/${pid}/comm`).trim() || 'a program' }
  }
  return undefined
}

function listListening(table: string, port: number): readonly string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return readText(table)
    .split('\n')
    .flatMap((row) => {
      const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/)
      return state === LISTENING && local.endsWith(ending) ? [`socket:[${inode}]`] : []
    })
}

function holdsOne(pid: number, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`
  return listNames(folder).some((name) => sockets.has(readLink(`${folder}/${name}`)))
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
