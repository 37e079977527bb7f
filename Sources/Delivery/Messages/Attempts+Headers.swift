import AMQP

extension Attempts {
    /// A header that says more was not written by a worker.
    private static let countedMax = 1_000_000

    /// A message that the broker delivers again may have been sent by a worker that died.
    ///
    /// - Parameter now: UNIX milliseconds; what a header says of later times is not true.
    init(of delivery: borrowing IncomingMessage, nowMilliseconds now: Int64) {
        possibleDuplicate = delivery.isRedelivered
        let properties = delivery.properties
        guard properties.hasHeaders else { return }
        func count(_ name: String) -> Int {
            Int(min(max(properties.header(name)?.integerValue ?? 0, 0), Int64(Self.countedMax)))
        }
        possibleDuplicate =
            possibleDuplicate || properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue ?? false
        // A dead letter that somebody moved back begins anew.
        guard properties.header(MessageHeaderName.outcome) == nil else { return }
        before = count(MessageHeaderName.attempt)
        rounds = count(MessageHeaderName.rounds)
        // Most messages come for the first time.
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
    /// For the next try.
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

    /// When the first attempt that counts failed, and since when and how often the request has been held.
    mutating func appendTimes(of attempts: Attempts) {
        if let time = attempts.firstTriedAtMilliseconds { append(MessageHeaderName.firstTriedAt, .integer(time)) }
        if let time = attempts.heldSinceMilliseconds {
            append(MessageHeaderName.holds, .integer(Int64(attempts.holds)))
            append(MessageHeaderName.heldSince, .integer(time))
        }
    }
}
