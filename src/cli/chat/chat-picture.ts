import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export interface ChatPicture {
  readonly svg: string
  readonly caption: string
}

/** Loads 2.4 MB of WebAssembly and a font, because the machine may have no font. */
async function loadRasteriser() {
  const { initWasm, Resvg } = await import('@resvg/resvg-wasm')
  const [program, font] = await Promise.all([
    readFile(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))),
    readFile(fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'))),
  ])
  await initWasm(program)
  return (svg: string): Uint8Array =>
    new Resvg(svg, { font: { fontBuffers: [font], defaultFontFamily: 'DejaVu Sans' } })
      .render()
      .asPng()
}

let rasteriser: ReturnType<typeof loadRasteriser> | undefined

export async function toPng(svg: string): Promise<Uint8Array> {
  rasteriser ??= loadRasteriser()
  const rasterise = await rasteriser
  return rasterise(svg)
}
