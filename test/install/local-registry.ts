import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LOCK = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, unknown>>
}

/** A package registry on this machine, which has the packages of this checkout and no others: npm needs no network. */
export class LocalRegistry {
  readonly url: string
  readonly #server: ReturnType<typeof createServer>

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  static async open(): Promise<LocalRegistry> {
    const server = createServer((request, response) => {
      const path = decodeURIComponent((request.url ?? '').slice(1))
      const [, name, index] = /^(.+)\/(\d+)\.tgz$/.exec(path) ?? []
      if (name === undefined) sendManifest(path, `http://${request.headers.host}/${path}`, response)
      else sendPackage(name, Number(index), response)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return new LocalRegistry(server)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** Every version of a package that lies in the checkout: some lie below the package that wants them. */
function foldersOf(name: string): readonly string[] {
  return Object.keys(LOCK.packages)
    .filter((path) => path.endsWith(`node_modules/${name}`))
    .map((path) => join(ROOT, path))
    .filter((path) => existsSync(path))
}

/** Of what is not here, another platform's Node, there are no versions: npm leaves optional ones out. */
function sendManifest(name: string, address: string, response: ServerResponse): void {
  const manifests = foldersOf(name).map((folder, index) => ({
    ...(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      readonly version: string
    }),
    dist: { tarball: `${address}/${index}.tgz` },
  }))
  if (manifests.length === 0) response.statusCode = 404
  const versions = Object.fromEntries(manifests.map((manifest) => [manifest.version, manifest]))
  response.end(JSON.stringify({ name, 'dist-tags': { latest: manifests[0]?.version }, versions }))
}

function sendPackage(name: string, index: number, response: ServerResponse): void {
  const folder = foldersOf(name)[index] ?? ROOT
  const args = ['-c', '-C', folder, '--exclude=./node_modules', '--transform=s,^\\.,package,', '.']
  spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(response)
}
