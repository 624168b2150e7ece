import { crc32, deflateRawSync } from 'node:zlib'

/** A zip of these files, as the format has it: each behind a head of its own, then the directory. */
export function buildZip(
  files: Readonly<Record<string, string | Uint8Array>>,
  { isStored = false, flags = 0 }: { readonly isStored?: boolean; readonly flags?: number } = {},
): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, text] of Object.entries(files)) {
    const contents = Buffer.from(text)
    const packed = isStored ? contents : deflateRawSync(contents)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(isStored ? 0 : 8, 4)
    common.writeUInt32LE(crc32(contents), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(contents.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const head = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name)])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0000'), common, place, Buffer.from(name))
    parts.push(head, packed)
    at += head.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, listed, end])
}
