import Crypto
import JSON
package import Registrations

/// A parser that converts the lines of an import into commands and ends. The file is CSV with a header line, or JSON
/// lines with the members of the `register` command. JSON lines of an export may also be ends.
package struct ImportParser {
    /// The format of a file. The first line that is not blank determines the format. A line of JSON begins with `{`,
    /// and any other line is the header of a CSV file.
    private enum Format {
        case undecided
        case jsonLines
        case csv([ImportColumn])
    }

    /// The content of a line.
    package enum Content: Equatable, Sendable {
        /// A blank line, or the header.
        case nothing
        case command(RegistrationCommand)
        case end(StoredEnd)
        case violation(CommandViolation)
    }

    /// The id of commands without an id. An import ignores ids.
    private static let unusedID = UUIDValue(high: 0, low: 0)
    private static let lineLimits = JSONLimits(bytesMax: ReceivedCommand.bytesMax, depthMax: 4)
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The time of lines without `registered_at`, in UNIX milliseconds; nil if each line needs this member.
    private let registeredAt: Int64?
    private let environment: ReceivedCommand.EnvironmentLookup
    private let indexKey: String
    private var format = Format.undecided

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - registeredAt: The time of lines without `registered_at`, in UNIX milliseconds; nil if each line needs this
    ///     member.
    ///   - indexKey: The fingerprint of the store's index key. Ends of another index key are violations.
    package init(
        registeredAt: Int64?, indexKey: String, environment: @escaping ReceivedCommand.EnvironmentLookup
    ) {
        (self.registeredAt, self.indexKey, self.environment) = (registeredAt, indexKey, environment)
    }

    /// Whether no line so far has determined the format.
    var isFormatUndecided: Bool {
        if case .undecided = format { true } else { false }
    }

    /// Returns the content of a line. Call this function for the lines of the file in order.
    ///
    /// - Parameter now: UNIX milliseconds.
    /// - Throws: ``ImportError`` if the line is an invalid header.
    package mutating func content(of line: [UInt8], now: Int64) throws(ImportError) -> Content {
        var line = line
        if case .undecided = format, line.starts(with: Self.byteOrderMark) {
            line.removeFirst(Self.byteOrderMark.count)
        }
        guard let first = line.first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else {
            return .nothing
        }
        switch format {
        case .undecided where first != UInt8(ascii: "{"):
            format = .csv(try ImportColumn.columns(of: line, hasDefaultTime: registeredAt != nil))
            return .nothing
        case .undecided, .jsonLines:
            format = .jsonLines
            return content(ofJSON: line, now)
        case .csv(let columns):
            do throws(CommandViolation) {
                return content(ofBody: try body(line, columns), now)
            } catch {
                return .violation(error)
            }
        }
    }

    private func content(ofJSON line: [UInt8], _ now: Int64) -> Content {
        guard let root = try? JSONDocument(line, limits: Self.lineLimits).root, root.kind == .object else {
            // The validation of the command reports the fault.
            return content(ofBody: line, now)
        }
        guard root[key: StoredEnd.lineMember] != nil else { return content(ofBody: completed(line, root), now) }
        do throws(CommandViolation) {
            return .end(try StoredEnd(root, indexKey: indexKey))
        } catch {
            return .violation(error)
        }
    }

    private func content(ofBody body: [UInt8], _ now: Int64) -> Content {
        do throws(CommandViolation) {
            let received = try ReceivedCommand(
                body, messageID: Self.unusedID, from: .import, now: now, environment: environment)
            guard case .register = received.command else {
                throw CommandViolation(
                    .schema, "const", path: "/command",
                    "An import contains register commands only; publish other commands to the registrations queue.")
            }
            return .command(received.command)
        } catch {
            return .violation(error)
        }
    }

    /// Returns a line, whose object is `root`, after adding the members that it may omit.
    private func completed(_ line: [UInt8], _ root: JSONValue) -> [UInt8] {
        var missing: [String] = []
        if root["command"] == nil { missing.append(#""command":"register""#) }
        if let registeredAt, root["registered_at"] == nil { missing.append(#""registered_at":\#(registeredAt)"#) }
        guard !missing.isEmpty else { return line }
        let text = missing.joined(separator: ",") + (root.count == 0 ? "" : ",")
        var line = line
        line.insert(contentsOf: text.utf8, at: root.sourceRange.lowerBound + 1)
        return line
    }

    /// Returns a CSV line as the JSON body of a command. Omits the members of empty fields.
    private func body(_ line: [UInt8], _ columns: [ImportColumn]) throws(CommandViolation) -> [UInt8] {
        let fields: [String]
        do throws(CSVLine.Mistake) {
            fields = try CSVLine.fields(of: line)
        } catch {
            throw CommandViolation(.schema, "csv", error.sentence)
        }
        guard fields.count == columns.count else {
            throw CommandViolation(
                .schema, "csv",
                "The line has \(fields.count) fields, and the header has \(columns.count) columns.")
        }
        var json = JSONWriter()
        json.beginObject()
        json.member("command", RegistrationCommand.Word.register.rawValue)
        var hasTime = false
        for (column, field) in zip(columns, fields) where !field.isEmpty {
            json.key(column.rawValue)
            Self.write(field, of: column, to: &json)
            hasTime = hasTime || column == .registeredAt
        }
        if !hasTime, let registeredAt { json.member("registered_at", registeredAt) }
        json.endObject()
        return json.bytes
    }

    /// Writes a field with the JSON type of its member. Writes an invalid field as a string, so that the validation of
    /// the command reports it.
    private static func write(_ field: String, of column: ImportColumn, to json: inout JSONWriter) {
        switch column {
        case .registeredAt, .expiresAt:
            if let time = RegistrationTime.milliseconds(field) ?? Int64(field) {
                return json.int(time)
            }
        case .shared:
            if let isShared = Bool(field) { return json.bool(isShared) }
        case .app, .environment, .kind, .scope, .user, .deviceToken, .deviceID, .platform: break
        }
        json.string(field)
    }
}
