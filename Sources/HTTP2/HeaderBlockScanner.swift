/// A scanner that determines the representation of each field of a header block (RFC 7541, 6) without decoding the
/// fields. The scan needs only lengths, so the scanner keeps no table. The block may arrive in parts of any length.
///
/// A syntax error stops the scan. The decoder of the block finds the same error and ends the connection.
struct HeaderBlockScanner {
    private enum State {
        case field
        /// Continuation bytes of an integer.
        case nameIndex, tableSize, nameLengthRest, valueLengthRest
        case nameLength, valueLength
        case nameText, valueText
        case broken
    }

    private var state = State.field
    private var form = HeaderRepresentation.Form.indexed
    private var isNameIndexed = false
    private var isNameHuffman = false
    private var isValueHuffman = false
    /// The integer that is being read, or the number of text bytes left to skip.
    private var value: UInt32 = 0
    private var shift: UInt32 = 0

    /// Scans the next part of the block. Calls `field` for each completed field.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ field: (HeaderRepresentation) -> Void) {
        var position = 0
        while position < bytes.count {
            switch state {
            case .nameText, .valueText:
                let skipped = min(Int(value), bytes.count - position)
                position += skipped
                value -= UInt32(skipped)
                if value == 0 { textEnded(field) }
            case .broken:
                return
            default:
                read(bytes[position], field)
                position += 1
            }
        }
    }

    private mutating func read(_ byte: UInt8, _ field: (HeaderRepresentation) -> Void) {
        switch state {
        case .field: beginField(byte, field)
        case .nameIndex, .tableSize, .nameLengthRest, .valueLengthRest:
            readInteger(byte)
            if byte & 0x80 == 0 { integerEnded(field) }
        case .nameLength:
            isNameHuffman = byte & 0x80 != 0
            beginInteger(byte, prefixBits: 7, then: .nameLengthRest, field)
        case .valueLength:
            isValueHuffman = byte & 0x80 != 0
            beginInteger(byte, prefixBits: 7, then: .valueLengthRest, field)
        case .nameText, .valueText, .broken: break
        }
    }

    private mutating func beginField(_ byte: UInt8, _ field: (HeaderRepresentation) -> Void) {
        isNameIndexed = false
        isNameHuffman = false
        isValueHuffman = false
        switch byte {
        case 0x80...:
            form = .indexed
            beginInteger(byte, prefixBits: 7, then: .nameIndex, field)
        case 0x40...:
            form = .incremental
            beginInteger(byte, prefixBits: 6, then: .nameIndex, field)
        case 0x20...:
            beginInteger(byte, prefixBits: 5, then: .tableSize, field)
        default:
            form = byte & 0x10 != 0 ? .neverIndexed : .withoutIndexing
            beginInteger(byte, prefixBits: 4, then: .nameIndex, field)
        }
    }

    /// Reads the first byte of an integer (RFC 7541, 5.1).
    private mutating func beginInteger(
        _ byte: UInt8, prefixBits: UInt8, then next: State, _ field: (HeaderRepresentation) -> Void
    ) {
        let mask = UInt8((UInt16(1) << UInt16(prefixBits)) - 1)
        value = UInt32(byte & mask)
        shift = 0
        state = next
        if byte & mask != mask { integerEnded(field) }
    }

    private mutating func readInteger(_ byte: UInt8) {
        let digits = UInt32(byte & 0x7F)
        guard shift < 32, UInt32.max >> shift >= digits else {
            state = .broken
            return
        }
        let (sum, overflow) = value.addingReportingOverflow(digits << shift)
        value = sum
        shift += 7
        if overflow { state = .broken }
    }

    private mutating func integerEnded(_ field: (HeaderRepresentation) -> Void) {
        switch state {
        case .nameIndex where form == .indexed:
            isNameIndexed = true
            fieldEnded(field)
        case .nameIndex:
            isNameIndexed = value != 0
            state = isNameIndexed ? .valueLength : .nameLength
        case .tableSize: state = .field
        case .nameLengthRest:
            state = .nameText
            if value == 0 { textEnded(field) }
        case .valueLengthRest:
            state = .valueText
            if value == 0 { textEnded(field) }
        case .field, .nameLength, .valueLength, .nameText, .valueText, .broken: break
        }
    }

    private mutating func textEnded(_ field: (HeaderRepresentation) -> Void) {
        if state == .nameText { state = .valueLength } else { fieldEnded(field) }
    }

    private mutating func fieldEnded(_ field: (HeaderRepresentation) -> Void) {
        state = .field
        field(
            HeaderRepresentation(
                form, isNameIndexed: isNameIndexed, isNameHuffman: isNameHuffman, isValueHuffman: isValueHuffman))
    }
}
