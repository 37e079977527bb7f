import JSON

extension ConfigurationReader {
    /// Parses a duration such as `30s`, `2m` or `1h`. Returns the number of seconds; nil for an invalid duration.
    /// Reports a duration of more than `limit` seconds. The schema reports other mistakes.
    mutating func seconds(_ value: JSONValue, upTo limit: Int) -> Int? {
        guard let seconds = value.string.flatMap(DurationText.seconds) else { return nil }
        guard seconds <= limit else {
            let text = limit.isMultiple(of: 3600) ? "\(limit / 3600)h" : "\(limit)s"
            complain(value, "the duration must be at most \(text)")
            return nil
        }
        return seconds
    }

    /// Returns the text with its references resolved; nil if the value is not a string, or after a reported mistake.
    mutating func text(_ value: JSONValue) -> String? {
        guard let written = value.string else { return nil }
        do {
            return try resolver.resolve(written)
        } catch {
            complain(value, error.message)
            return nil
        }
    }

    /// Returns the content of the file that the value names; nil if the value is no path, or after a reported mistake.
    mutating func file(_ value: JSONValue) -> [UInt8]? {
        guard let written = value.string, !written.isEmpty else { return nil }
        do {
            let path = try resolver.replacingVariables(written)
            do {
                return try resolver.readFile(path)
            } catch {
                complain(value, "cannot read \(written): \(error.reason)")
            }
        } catch {
            complain(value, error.message)
        }
        return nil
    }
}
