/** Links are followed. Modes and owners count; an access list's mask stands for the group. */
import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join, parse, relative, resolve, sep } from 'node:path'

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
/** Only an entry's owner may rename or remove it there. */
const STICKY = 0o1000
const ROOT_USER = 0
/** As many as Linux follows. */
const LINKS_MAX = 40

export interface FileTrust {
  readonly users: ReadonlySet<number>
  readonly groups: ReadonlySet<number>
}

export interface FileFault {
  readonly place: string
  readonly fault: string
  readonly remedy: string
}

export function trustIn(user: number): FileTrust {
  const users = new Set([ROOT_USER, user])
  return { users, groups: listPrivateGroups(users) }
}

export function findFileFault(file: string, trust: FileTrust): FileFault | undefined {
  for (const place of listPlaces(resolve(file))) {
    const stats = lstatSync(place, { throwIfNoEntry: false })
    const found = stats && judge(place, stats, trust)
    if (found) return found
  }
  return undefined
}

function judge(place: string, stats: Stats, { users, groups }: FileTrust): FileFault | undefined {
  if (!users.has(stats.uid))
    return {
      place,
      fault: `belongs to user ${stats.uid}`,
      remedy: `chown ${[...users].at(-1)} ${place}`,
    }
  // A link's mode says nothing.
  if (stats.isSymbolicLink()) return undefined
  if (stats.isDirectory() && (stats.mode & STICKY) !== 0) return undefined
  const byGroup = (stats.mode & GROUP_WRITES) !== 0 && !groups.has(stats.gid)
  if (!byGroup && (stats.mode & OTHERS_WRITE) === 0) return undefined
  const mode = (stats.mode & 0o777).toString(8)
  return { place, fault: `may be changed by others (mode ${mode})`, remedy: `chmod go-w ${place}` }
}

function listPlaces(file: string): ReadonlySet<string> {
  const places = new Set<string>()
  const follow = (path: string, links: number): void => {
    const { root } = parse(path)
    let place = root
    places.add(place)
    const names = relative(root, path).split(sep).filter(Boolean)
    for (const [index, name] of names.entries()) {
      place = join(place, name)
      places.add(place)
      const stats = lstatSync(place, { throwIfNoEntry: false })
      if (stats === undefined) return
      if (!stats.isSymbolicLink()) continue
      if (links < LINKS_MAX)
        follow(resolve(dirname(place), readlinkSync(place), ...names.slice(index + 1)), links + 1)
      return
    }
  }
  follow(file, 0)
  return places
}

/** A user missing in `/etc/passwd` is unknown, so no group is trusted then. */
function listPrivateGroups(users: ReadonlySet<number>): ReadonlySet<number> {
  if (process.platform !== 'linux') return new Set()
  const accounts = readRows('/etc/passwd').map(([name, , user, group]) => ({ name, user, group }))
  const trusted = accounts.filter(({ user }) => users.has(Number(user))).map(({ name }) => name)
  const groups = readRows('/etc/group').filter(([name, , group, members = '']) => {
    const others = accounts.filter((one) => one.group === group && !trusted.includes(one.name))
    const named = members.split(',').filter(Boolean)
    return (
      trusted.includes(name) && others.length === 0 && named.every((one) => trusted.includes(one))
    )
  })
  return new Set(groups.map(([, , group]) => Number(group)))
}

function readRows(file: string): readonly (readonly string[])[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(':'))
  } catch {
    return []
  }
}
