import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url))

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
      if (path.endsWith('.tgz')) sendPackage(path.slice(0, -'.tgz'.length), response)
      else sendManifest(path, `http://${request.headers.host}/${path}.tgz`, response)
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

function sendManifest(name: string, tarball: string, response: ServerResponse): void {
  try {
    const manifest = JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8')) as { version: string }
    const { version } = manifest
    const versions = { [version]: { ...manifest, dist: { tarball } } }
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }))
  } catch {
    response.writeHead(404).end('{}') // Another platform's package: npm leaves optional ones out.
  }
}

function sendPackage(name: string, response: ServerResponse): void {
  const args = ['-c', '-C', join(MODULES, name), '--exclude=./node_modules', '--transform=s,^\\.,package,', '.']
  spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(response)
}
