import { readFileSync, writeFileSync } from 'node:fs'
import { filesOf, type Walk } from './walks.ts'

const page = new URL('../../docs/path-of-a-price.md', import.meta.url)
const ROW = /^\| (?<title>[^|]+) \| (?<files>\d+) \| (?<functions>\d+) \|$/gm

export interface WalkFigures {
  readonly title: string
  readonly files: number
  readonly functions: number
}

export function figuresOf(walk: Walk): WalkFigures {
  return { title: walk.title, files: filesOf(walk).length, functions: walk.functions.length }
}

/** The table of docs/path-of-a-price.md. */
export function readKeptFigures(): readonly WalkFigures[] {
  return [...readFileSync(page, 'utf8').matchAll(ROW)].map(({ groups = {} }) => ({
    title: groups['title'] ?? '',
    files: Number(groups['files']),
    functions: Number(groups['functions']),
  }))
}

export function keepFigures(figures: readonly WalkFigures[]): void {
  const text = readFileSync(page, 'utf8').replaceAll(ROW, (row: string, title: string) => {
    const measured = figures.find((story) => story.title === title)
    return measured === undefined ? row : `| ${title} | ${measured.files} | ${measured.functions} |`
  })
  writeFileSync(page, text)
}
