// Prints, of a Parquet and an Arrow file, the SHA-256 of each column's values as
// three readers see them: one value a line, times as integers, decimals with all
// digits of their scale.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DataType, tableFromIPC } from 'apache-arrow'
import pl from 'nodejs-polars'

const [parquet, arrow] = process.argv.slice(2)

function sum(values) {
  const h = createHash('sha256')
  for (const v of values) h.update(`${v}\n`)
  return h.digest('hex')
}

function polars(frame) {
  return Object.fromEntries(frame.getColumns().map((column) => {
    if (column.name === 'ts') column = column.cast(pl.Int64)
    return [column.name, sum(column.cast(pl.Utf8))]
  }))
}

// Arrow's own JavaScript rounds times to milliseconds and makes four words of a
// decimal, so the memory of both is read.
function* script(vector) {
  const isTime = DataType.isTimestamp(vector.type)
  if (!isTime && !DataType.isDecimal(vector.type)) {
    yield* vector
    return
  }
  for (const { values, length } of vector.data) {
    const words = new BigInt64Array(values.buffer, values.byteOffset, isTime ? length : 2 * length)
    for (let i = 0; i < length; i++) yield isTime ? words[i] : decimal(words[2 * i], vector.type.scale)
  }
}

function decimal(v, scale) {
  const digits = (v < 0n ? -v : v).toString().padStart(scale + 1, '0')
  const at = digits.length - scale
  return `${v < 0n ? '-' : ''}${digits.slice(0, at)}.${digits.slice(at)}`
}

const table = tableFromIPC(readFileSync(arrow))
console.log(JSON.stringify({
  'polars parquet': polars(pl.readParquet(readFileSync(parquet))),
  'polars arrow': polars(pl.readIPC(readFileSync(arrow))),
  'javascript arrow': Object.fromEntries(table.schema.fields.map(({ name }) => [name, sum(script(table.getChild(name)))])),
}))
