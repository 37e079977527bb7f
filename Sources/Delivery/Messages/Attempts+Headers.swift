import AMQP

extension Attempts {
    /// The largest count that a worker accepts from a header. Larger counts are reduced to this value.
    private static let countedMax = 1_000_000

    /// Reads the history of a request from its headers. A redelivery is a possible duplicate, since a worker may have
    /// pushed the request.
    ///
    /// - Parameter now: The current time in UNIX milliseconds, the upper bound of times in headers.
    init(of delivery: borrowing IncomingMessage, nowMilliseconds now: Int64) {
        possibleDuplicate = delivery.isRedelivered
        let properties = delivery.properties
        guard properties.hasHeaders else { return }
        func count(_ name: String) -> Int {
            Int(min(max(properties.header(name)?.integerValue ?? 0, 0), Int64(Self.countedMax)))
        }
        possibleDuplicate =
            possibleDuplicate || properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue ?? false
        // A dead letter that a tool other than `martlet` moved to a request queue starts over.
        guard properties.header(MessageHeaderName.outcome) == nil else { return }
        before = count(MessageHeaderName.attempt)
        rounds = count(MessageHeaderName.rounds)
        // Most requests arrive for the first time, without the other headers.
        guard rounds > 0 else { return }
        func id(_ name: String) -> UInt32? {
            properties.header(name)?.integerValue.map(UInt32.init(truncatingIfNeeded:))
        }
        waitID = id(MessageHeaderName.waitID) ?? 0
        holds = count(MessageHeaderName.holds)
        func time(_ name: String) -> Int64? { properties.header(name)?.integerValue.map { min(max($0, 0), now) } }
        heldSinceMilliseconds = time(MessageHeaderName.heldSince)
        firstTriedAtMilliseconds = time(MessageHeaderName.firstTriedAt)
        beforeQuarantine = id(MessageHeaderName.waitIDBefore).map {
            BeforeQuarantine(
                waitID: $0, deliveries: count(MessageHeaderName.deliveriesBefore),
                movedAtMilliseconds: time(MessageHeaderName.failedAt) ?? now)
        }
    }
}

extension FieldTable {
    /// Appends the history for the next delivery.
    mutating func append(_ attempts: Attempts) {
        append(MessageHeaderName.attempt, .integer(Int64(attempts.before)))
        append(MessageHeaderName.rounds, .integer(Int64(attempts.rounds)))
        append(MessageHeaderName.possibleDuplicate, .boolean(attempts.possibleDuplicate))
        if attempts.waitID != 0 { append(MessageHeaderName.waitID, .integer(Int64(attempts.waitID))) }
        if let before = attempts.beforeQuarantine {
            append(MessageHeaderName.waitIDBefore, .integer(Int64(before.waitID)))
            append(MessageHeaderName.deliveriesBefore, .integer(Int64(before.deliveries)))
        }
        appendTimes(of: attempts)
    }

    /// Appends the time of the first failed attempt, and the number and start of the holds.
    mutating func appendTimes(of attempts: Attempts) {
        if let time = attempts.firstTriedAtMilliseconds { append(MessageHeaderName.firstTriedAt, .integer(time)) }
        if let time = attempts.heldSinceMilliseconds {
            append(MessageHeaderName.holds, .integer(Int64(attempts.holds)))
            append(MessageHeaderName.heldSince, .integer(time))
        }
    }
}
