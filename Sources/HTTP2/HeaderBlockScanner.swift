/// Finds where the fields of a header block begin and how each is written (RFC 7541, 6), without decoding one: lengths
/// are all that has to be understood, so no table is kept. Takes the block in pieces, cut anywhere.
///
/// What breaks the rules stops the scan; whoever decodes the block finds the same fault and ends the connection.
struct HeaderBlockScanner {
    private enum State {
        case field
        /// Further bytes of the integers.
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
    /// The integer being read, or the bytes of a text that are still to be skipped.
    private var value: UInt32 = 0
    private var shift: UInt32 = 0

    /// Reads on; `field` is called as soon as a field is complete.
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

    /// Reads an integer's first byte (RFC 7541, 5.1).
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
