import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type Report, Skipped } from '../report.ts'

/** Recorded answers of the real exchange. They are not the project's, and need not be there. */
const FIXTURES = new URL('../../../shared/fixtures/', import.meta.url)
const ENDPOINTS = 'endpoints/'

/** Whether they are there; when not, says so as a skipped case. */
export async function areFixturesThere(report: Report, title: string): Promise<boolean> {
  if (existsSync(new URL(ENDPOINTS, FIXTURES))) return true
  await report.try(title, () => {
    throw new Skipped('nothing recorded at ../shared/fixtures')
  })
  return false
}

/** @throws Error when the file is not there or no JSON */
export function readFixture(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8'))
}

/** What was recorded of each endpoint, in the order of the files' names. */
export function readEndpointFixtures(): readonly unknown[] {
  const files = readdirSync(new URL(ENDPOINTS, FIXTURES)).filter((file) => file.endsWith('.json'))
  return files.sort().map((file) => readFixture(ENDPOINTS + file))
}
