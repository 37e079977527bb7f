private import CYAML
import JSON

/// The sequence of events that the parser of libyaml reports for a text.
struct YAMLEvents: ~Copyable {
    enum Kind {
        /// A start or end of a stream or document that needs no action.
        case nothing
        case documentStart
        case streamEnd
        case alias
        case scalar(Scalar)
        case sequenceStart(tag: String?)
        case sequenceEnd
        case mappingStart(tag: String?)
        case mappingEnd
    }

    struct Event {
        var kind: Kind
        var hasAnchor = false
        /// The number of characters before the start of the event. Its line and column also count from 0.
        var index: Int
        var line: Int
        var column: Int
    }

    struct Scalar {
        var text: String
        var isPlain: Bool
        var tag: String?
    }

    /// The parser, at a stable address because libyaml keeps a pointer to it.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>
    /// The optional byte order mark (YAML 1.2.2, section 5.2). libyaml counts the mark as a column and then finds the
    /// keys of the first mapping misaligned.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// Offset of the text after the byte order mark.
    let firstByte: Int

    /// Creates the events of a copy of the text.
    init(_ bytes: [UInt8]) {
        text = .allocate(capacity: bytes.count)
        _ = text.initialize(from: bytes)
        firstByte = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        parser = .allocate(capacity: 1)
        // The call fails only without memory, and Swift also terminates a process without memory.
        guard yaml_parser_initialize(parser) == 1 else { fatalError("cannot create a YAML parser: out of memory") }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, text.baseAddress.map { $0 + firstByte }, text.count - firstByte)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        text.deallocate()
    }

    mutating func next() throws(YAMLError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
        defer { yaml_event_delete(&event) }
        let mark = event.start_mark
        var next = Event(kind: .nothing, index: mark.index, line: mark.line, column: mark.column)
        switch event.type {
        case YAML_DOCUMENT_START_EVENT:
            next.kind = .documentStart
        case YAML_STREAM_END_EVENT:
            next.kind = .streamEnd
        case YAML_ALIAS_EVENT:
            next.kind = .alias
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            next.hasAnchor = scalar.anchor != nil
            next.kind = .scalar(
                Scalar(
                    text: String(
                        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self),
                    isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE, tag: Self.string(scalar.tag)))
        case YAML_SEQUENCE_START_EVENT:
            next.hasAnchor = event.data.sequence_start.anchor != nil
            next.kind = .sequenceStart(tag: Self.string(event.data.sequence_start.tag))
        case YAML_SEQUENCE_END_EVENT:
            next.kind = .sequenceEnd
        case YAML_MAPPING_START_EVENT:
            next.hasAnchor = event.data.mapping_start.anchor != nil
            next.kind = .mappingStart(tag: Self.string(event.data.mapping_start.tag))
        case YAML_MAPPING_END_EVENT:
            next.kind = .mappingEnd
        default:
            break
        }
        return next
    }

    private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        text.map { String(cString: $0) }
    }

    private func failure() -> YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
        guard parser.pointee.error != YAML_READER_ERROR else {
            let offset = firstByte + parser.pointee.problem_offset
            let position = JSONPosition(offset: offset, in: UnsafeBufferPointer(text))
            return YAMLError(code: .syntax, position: position, message: problem)
        }
        if let tab = tabInIndentation { return tab }
        let context = parser.pointee.context.map { ", " + String(cString: $0) } ?? ""
        let mark = parser.pointee.problem_mark
        let position = JSONPosition(offset: firstByte + mark.index, line: mark.line + 1, column: mark.column + 1)
        return YAMLError(code: .syntax, position: position, message: problem + context)
    }

    /// The error for a line that is indented with a tab; nil for other errors. YAML allows only spaces (YAML 1.2,
    /// section 6.1).
    private var tabInIndentation: YAMLError? {
        let line = parser.pointee.problem_mark.line
        let start = text.split(separator: UInt8(ascii: "\n"), maxSplits: line, omittingEmptySubsequences: false)
            .dropFirst(line).first?.startIndex
        guard var start else { return nil }
        if line == 0 { start += firstByte }
        let indentation = text[start...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let tab = indentation.firstIndex(of: UInt8(ascii: "\t")),
            parser.pointee.problem_mark.column == tab - start
        else { return nil }
        return YAMLError(
            code: .syntax, position: JSONPosition(offset: tab, line: line + 1, column: tab - start + 1),
            message: "a tab is not allowed in indentation; use spaces")
    }
}
