/// A parser of the reply text with which RabbitMQ closes a channel or a connection. AMQP's reply codes denote classes
/// of errors. Only the text names the object or the argument.
enum ReplyText {
    /// Returns the detail that the reply text contains.
    ///
    /// - Parameter code: the reply code that arrived with the text (AMQP 0-9-1, section 1.2).
    /// - Returns: nil if the text has no detail that Martlet uses.
    static func detail(code: UInt16, text: String) -> AMQPError.Detail? {
        switch code {
        case 404:
            // If the node of a queue is down, the code is also 404. The queue is not missing then, and the text
            // differs.
            return name(in: text, after: "NOT_FOUND - no queue '").map { .missingQueue($0) }
                ?? name(in: text, after: "NOT_FOUND - no exchange '").map { .missingExchange($0) }
        case 403:
            return name(in: text, after: "access to queue '").map { .refusedResource($0) }
                ?? name(in: text, after: "access to exchange '").map { .refusedResource($0) }
        case 406: return failedPrecondition(text)
        case 503: return text.contains("exchange type '") ? .unknownExchangeType : nil
        default: return nil
        }
    }

    private static func failedPrecondition(_ text: String) -> AMQPError.Detail? {
        guard text.hasPrefix("PRECONDITION_FAILED - ") else { return nil }
        let rest = text.dropFirst("PRECONDITION_FAILED - ".count)
        if rest.hasPrefix("delivery acknowledgement on channel ") { return .lateAcknowledgment }
        if rest.hasPrefix("user_id property set to ") { return .refusedUserID }
        if rest.hasSuffix(" replica on the local node") { return .missingReplica }
        if let name = quoted(rest, after: "inequivalent arg ") { return .inequivalentArgument(name) }
        if let name = quoted(rest, after: "invalid arg ") { return .invalidArgument(name) }
        return nil
    }

    /// Returns the name in `queue 'push.requests' in vhost '/'`. The name may contain quotation marks.
    private static func name(in text: String, after start: String) -> String? {
        guard let before = text.firstRange(of: start) else { return nil }
        let rest = text[before.upperBound...]
        return rest.ranges(of: "' in vhost '").last.map { String(rest[..<$0.lowerBound]) }
    }

    private static func quoted(_ text: Substring, after start: String) -> String? {
        guard text.hasPrefix("\(start)'") else { return nil }
        let rest = text.dropFirst(start.count + 1)
        return rest.firstIndex(of: "'").map { String(rest[..<$0]) }
    }
}
