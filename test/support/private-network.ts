import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Machines get the number after their place in the list. */
const SUBNET = '10.77.0'
/** An unused address: packets to it are lost. */
const NOBODY = '02:00:00:00:00:01'

export const networkMissing = findMissing()

/** A network namespace with its own hosts file, so that `localhost` is what it names. */
export class NetworkHost {
  readonly name: string
  readonly address: string
  readonly pid: number
  readonly #holder: ChildProcess
  readonly #wall: NetworkHost | undefined

  /** @param wall other end of its cable; undefined for the switch */
  constructor(
    name: string,
    place: { address: string; holder: ChildProcess; wall: NetworkHost | undefined },
  ) {
    this.name = name
    this.address = place.address
    this.#holder = place.holder
    this.#wall = place.wall
    this.pid = place.holder.pid ?? 0
  }

  within(directory: string): readonly string[] {
    const of = (kind: string): string => `/proc/${this.pid}/ns/${kind}`
    return ['nsenter', `--net=${of('net')}`, `--mount=${of('mnt')}`, `--wdns=${directory}`, '--']
  }

  /** @throws where it fails */
  do(command: string): void {
    const [program = '', ...args] = [...this.within('/'), ...command.split(' ')]
    const { status, stderr } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    if (status !== 0) throw new Error(`${this.name}: ${command}: ${String(stderr)}`)
  }

  pull(): void {
    this.#wall?.do(`ip link set dev ${portOf(this.name)} down`)
  }

  plug(): void {
    this.#wall?.do(`ip link set dev ${portOf(this.name)} up`)
  }

  /** Silently loses packets to that machine; those from it arrive. */
  loseWayTo({ address }: Pick<NetworkHost, 'address'>): void {
    this.do(`ip neigh replace ${address} lladdr ${NOBODY} dev eth0 nud permanent`)
  }

  findWayTo({ address }: Pick<NetworkHost, 'address'>): void {
    this.do(`ip neigh del ${address} dev eth0`)
  }

  /** Loses this percentage of packets, either way. */
  lose(percent: number): void {
    this.do('nft add table inet lossy')
    for (const hook of ['input', 'output']) {
      this.do(`nft add chain inet lossy ${hook} { type filter hook ${hook} priority 0 ; }`)
      this.do(`nft add rule inet lossy ${hook} numgen random mod 100 < ${percent} drop`)
    }
  }

  loseNoMore(): void {
    this.do('nft delete table inet lossy')
  }

  /** Packets queue either way; those that would wait too long are lost. */
  narrow(rate: string): void {
    const queue = `root tbf rate ${rate} burst 3000 latency 1500ms`
    this.do(`tc qdisc add dev eth0 ${queue}`)
    this.#wall?.do(`tc qdisc add dev ${portOf(this.name)} ${queue}`)
  }

  widen(): void {
    this.do('tc qdisc del dev eth0 root')
    this.#wall?.do(`tc qdisc del dev ${portOf(this.name)} root`)
  }

  /** The namespace and its cable end with its last process. */
  close(): void {
    this.#holder.kill('SIGKILL')
  }
}

/** A namespace ends with its last process, which ends with this process, however that ends. */
export class PrivateNetwork {
  readonly #hosts: readonly NetworkHost[]
  readonly #folder: string

  private constructor(folder: string, hosts: readonly NetworkHost[]) {
    this.#folder = folder
    this.#hosts = hosts
  }

  /** @param localhost machine that all find under the name `localhost` */
  static async open(names: readonly string[], localhost: string): Promise<PrivateNetwork> {
    const folder = mkdtempSync(join(tmpdir(), 'intentd-network-'))
    const file = join(folder, 'hosts')
    const addressOf = (name: string): string => `${SUBNET}.${names.indexOf(name) + 1}`
    writeFileSync(file, `${addressOf(localhost)} localhost\n`)
    const wall = new NetworkHost('wall', { address: '', holder: await hold(file), wall: undefined })
    const hosts: NetworkHost[] = [wall]
    const network = new PrivateNetwork(folder, hosts)
    try {
      wall.do('ip link add br0 type bridge')
      wall.do('ip link set br0 up')
      for (const name of names) {
        const host = new NetworkHost(name, {
          address: addressOf(name),
          holder: await hold(file),
          wall,
        })
        hosts.push(host)
        wall.do(`ip link add ${portOf(name)} type veth peer name eth0 netns ${host.pid}`)
        wall.do(`ip link set ${portOf(name)} master br0 up`)
        host.do(`ip address add ${host.address}/24 dev eth0`)
        host.do('ip link set eth0 up')
      }
    } catch (error) {
      network.close()
      throw error
    }
    return network
  }

  host(name: string): NetworkHost {
    const found = this.#hosts.find((host) => host.name === name)
    if (found === undefined) throw new Error(`there is no machine ${name}`)
    return found
  }

  close(): void {
    for (const host of this.#hosts) host.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function portOf(name: string): string {
  return `to-${name}`
}

/** A process that idles in its own namespaces, and ends with this one. */
async function hold(hostsFile: string): Promise<ChildProcess> {
  const script = `mount --bind ${hostsFile} /etc/hosts && ip link set lo up && echo held && exec cat`
  const holder = spawn('unshare', ['--net', '--mount', '--', 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const first: unknown[] = await Promise.race([
    once(holder.stdout, 'data'),
    once(holder, 'exit').then(() => ['ended']),
  ])
  if (!String(first[0]).includes('held')) throw new Error('no network namespace of its own')
  return holder
}

function findMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'no network namespaces: only root may make them'
  const runs = (program: string, ...args: readonly string[]): boolean =>
    spawnSync(program, args, { stdio: 'ignore' }).status === 0
  if (!runs('ip', '-V') || !runs('tc', '-V') || !runs('nft', '-v'))
    return 'no ip, tc or nft: npm run servers'
  const tries =
    'ip link add one type veth peer name two && ip link add br0 type bridge && mount --bind /etc/hosts /etc/hosts'
  if (!runs('unshare', '--net', '--mount', '--', 'sh', '-c', tries))
    return 'no network namespaces here'
  return undefined
}
