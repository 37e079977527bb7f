import AMQP
import Registrations

/// The expansion of a request to users, during one delivery.
///
/// A class, so that the record of a request to a device stores only an empty reference.
final class Expansion {
    let audience: Audience
    /// The key of the request to users in the memory of duplicates; nil for a delivery from the queue of expired
    /// requests.
    let key: DeduplicationKey?
    let template: ChildTemplate
    /// The place from which the next delivery of the request continues, and the counts of the report.
    var cursor: FanoutCursor
    /// The number of confirmed children behind the cursor. If the request returns, a worker publishes these children
    /// again, and the cursor then counts them.
    var confirmedBehindCursor = 0
    /// The children of this delivery whose devices were found so far.
    var chunk: FanoutChunk
    /// The time of the first lookup for the chunk, in UNIX milliseconds; nil until that lookup.
    var lookedUpAtMilliseconds: Int64?
    /// Whether the expansion has one of the lane's places for chunks.
    var hasPlace = false

    init(_ audience: Audience, _ key: DeduplicationKey?, of record: DeliveryRecord) {
        (self.audience, self.key) = (audience, key)
        template = ChildTemplate(audience, body: record.delivery.content.bytes)
        cursor = FanoutCursor(of: record.delivery.properties)
        chunk = FanoutChunk(from: cursor, userCount: audience.users.count, childBytes: template.childBytes)
    }

    /// Returns the only device of a single user; nil for a list of users, and for no device or several devices. Also
    /// nil if an earlier delivery made progress.
    func onlyDevice(among found: ArraySlice<[FoundDevice]>) -> FoundDevice? {
        guard !audience.isList, cursor.isAtStart, let devices = found.first, devices.count == 1 else { return nil }
        return devices[0]
    }

    /// Whether the cursor counts published children.
    var hasChildren: Bool { cursor.deviceCount > 0 }

    /// The cursor with the counts of a report, which ends the request.
    var counts: FanoutCursor {
        var counts = cursor
        counts.deviceCount += confirmedBehindCursor
        return counts
    }
}

/// A valid request to users and its key, before the expansion in this delivery.
struct PendingAudience {
    let audience: Audience
    /// The key of the request in the memory of duplicates.
    let key: DeduplicationKey
}
