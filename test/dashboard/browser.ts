import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'

/** Debian's; any other by its path. */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Undefined where there is no browser, with what makes one. */
export const browserMissing = existsSync(CHROMIUM) ? undefined : 'no Chromium: npm run browser'

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface OpenedBrowser {
  readonly context: BrowserContext
  readonly close: () => Promise<void>
}

/** A browser that knows nothing of an earlier one. */
export async function openBrowser(args: readonly string[] = []): Promise<OpenedBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'intentd-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: [...ARGUMENTS, ...args],
    viewport: { width: 1280, height: 900 },
  })
  return {
    context,
    async close() {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
