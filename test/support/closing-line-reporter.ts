import { writeSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

interface Count {
  passed: number
  failed: number
  skipped: number
}

export function toClosingLine({ passed, failed, skipped }: Count): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/**
 * Makes the last line of a run the count of its tests. A file that does not load, a failing hook
 * and an error outside tests count as one failure each, so that "0 failed" never goes with exit
 * code 1.
 */
export default class ClosingLineReporter implements Reporter {
  readonly #ended: Count = { passed: 0, failed: 0, skipped: 0 }
  #line: string | undefined

  /** Printed at the end of the process, after other reporters and the clean-up. */
  onInit(): void {
    process.once('exit', () => writeSync(process.stdout.fd, `${this.closingLine}\n`))
  }

  onTestModuleEnd(module: TestModule): void {
    addModule(module, this.#ended)
  }

  /** A run that is ended from outside has no `onTestRunEnd`. */
  get closingLine(): string {
    return this.#line ?? `${toClosingLine(this.#ended)}, and the run was ended before the rest`
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count: Count = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const module of modules) addModule(module, count)
    this.#line = toClosingLine(count)
  }
}

function addModule(module: TestModule, count: Count): void {
  count.failed += module.errors().length
  for (const suite of module.children.allSuites()) count.failed += suite.errors().length
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    if (state === 'passed') count.passed += 1
    else if (state === 'skipped') count.skipped += 1
    else count.failed += 1 // 'failed', or 'pending' for a test that never ended.
  }
}
