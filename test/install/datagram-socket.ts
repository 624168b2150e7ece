import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Node has no datagram sockets of the Unix family. Each message a line of JSON, as long as standard input is open. */
const LISTENER = `
import json, os, socket, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listening.bind(sys.argv[1])
print('"listening"', flush=True)
while True:
    print(json.dumps(listening.recv(65536).decode()), flush=True)
`

/** A real datagram socket, as systemd gives one to a service. */
export class DatagramSocket {
  readonly messages: string[] = []
  readonly #child: ChildProcess
  #wake = (): void => undefined

  private constructor(path: string) {
    const child = spawn('python3', ['-c', LISTENER, path], { stdio: ['pipe', 'pipe', 'inherit'] })
    createInterface(child.stdout).on('line', (line) => {
      this.messages.push(JSON.parse(line) as string)
      this.#wake()
    })
    this.#child = child
  }

  static async open(path: string): Promise<DatagramSocket> {
    const socket = new DatagramSocket(path)
    await socket.until((messages) => messages.includes('listening'))
    return socket
  }

  /** The test's own limit ends the waiting. */
  async until(isSo: (messages: readonly string[]) => boolean): Promise<void> {
    while (!isSo(this.messages)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await ended
  }
}
