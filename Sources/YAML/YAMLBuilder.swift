import JSON

/// A converter of a YAML text to JSON. It records the position of each value and key, in the order of their
/// `nodeIndex` in the parsed JSON.
struct YAMLBuilder: ~Copyable {
    private(set) var positions: [JSONPosition] = []
    private let text: [UInt8]
    private var events: YAMLEvents
    private var json = JSONWriter()
    private var open: [Container] = []
    private var documents = 0
    /// The number of characters counted so far, and of their bytes.
    private var counted = (characters: 0, bytes: 0)

    private enum Container {
        case sequence
        case mapping(keys: Set<String>, awaitsKey: Bool)
    }

    init(_ text: [UInt8]) {
        self.text = text
        events = YAMLEvents(text)
        counted.bytes = events.firstByte
    }

    mutating func build() throws(YAMLError) {
        guard text.count <= YAMLDocument.bytesMax else {
            throw YAMLError(
                code: .size, position: JSONPosition(offset: 0, line: 1, column: 1),
                message: "the text is longer than \(YAMLDocument.bytesMax) bytes")
        }
        while true {
            let event = try events.next()
            let position = position(of: event)
            guard !event.hasAnchor else {
                throw YAMLError(code: .unsupported, position: position, message: "anchors are not supported")
            }
            switch event.kind {
            case .nothing:
                break
            case .documentStart:
                documents += 1
                guard documents == 1 else {
                    throw YAMLError(
                        code: .unsupported, position: position, message: "the text has more than one document")
                }
            case .streamEnd:
                guard documents == 1 else {
                    throw YAMLError(code: .empty, position: position, message: "the text is empty")
                }
                return
            case .alias:
                throw YAMLError(
                    code: .unsupported, position: position, message: "aliases are not supported; repeat the value")
            case .scalar(let scalar):
                try add(scalar, at: position)
            case .sequenceStart(let tag):
                try check(tag, is: "seq", at: position)
                try begin(.sequence, at: position)
                json.beginArray()
            case .mappingStart(let tag):
                try check(tag, is: "map", at: position)
                try begin(.mapping(keys: [], awaitsKey: true), at: position)
                json.beginObject()
            case .sequenceEnd:
                open.removeLast()
                json.endArray()
            case .mappingEnd:
                open.removeLast()
                json.endObject()
            }
        }
    }

    func document() throws(YAMLError) -> JSONDocument {
        do throws(JSONError) {
            // A JSON escape has at most six bytes per byte of YAML.
            let limits = JSONLimits(bytesMax: 8 * YAMLDocument.bytesMax, depthMax: YAMLDocument.depthMax)
            return try JSONDocument(json.bytes, limits: limits)
        } catch {
            throw YAMLError(
                code: .syntax, position: JSONPosition(offset: 0, line: 1, column: 1), message: error.message)
        }
    }

    private mutating func begin(_ container: Container, at position: JSONPosition) throws(YAMLError) {
        try beginValue(at: position)
        guard open.count < YAMLDocument.depthMax else {
            throw YAMLError(
                code: .depth, position: position,
                message: "sequences and mappings are nested deeper than \(YAMLDocument.depthMax)")
        }
        open.append(container)
    }

    private mutating func add(_ scalar: YAMLEvents.Scalar, at position: JSONPosition) throws(YAMLError) {
        guard case .mapping(var keys, awaitsKey: true)? = open.last else {
            try beginValue(at: position)
            return try YAMLScalar(scalar, at: position).write(to: &json)
        }
        guard keys.insert(scalar.text).inserted else {
            throw YAMLError(code: .duplicateKey, position: position, message: "duplicate key")
        }
        open[open.count - 1] = .mapping(keys: keys, awaitsKey: false)
        positions.append(position)
        json.key(scalar.text)
    }

    /// Records the position of a value. In a mapping, a key or the end must follow the value. Throws if the mapping
    /// awaits a key.
    private mutating func beginValue(at position: JSONPosition) throws(YAMLError) {
        if case .mapping(let keys, let awaitsKey)? = open.last {
            guard !awaitsKey else {
                throw YAMLError(code: .unsupported, position: position, message: "a key must be text")
            }
            open[open.count - 1] = .mapping(keys: keys, awaitsKey: true)
        }
        positions.append(position)
    }

    private func check(_ tag: String?, is kind: String, at position: JSONPosition) throws(YAMLError) {
        guard tag == nil || tag == "!" || tag == YAMLScalar.tagPrefix + kind else {
            throw YAMLError(code: .unsupported, position: position, message: "unsupported tag")
        }
    }

    /// Returns the position of an event. Events are in the order of the text, so each byte is counted once.
    private mutating func position(of event: YAMLEvents.Event) -> JSONPosition {
        while counted.characters < event.index, counted.bytes < text.count {
            counted.bytes += 1
            while counted.bytes < text.count, text[counted.bytes] & 0xC0 == 0x80 { counted.bytes += 1 }
            counted.characters += 1
        }
        return JSONPosition(offset: counted.bytes, line: event.line + 1, column: event.column + 1)
    }
}
