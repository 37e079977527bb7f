import AMQP

/// The published children of a request to users. Earlier deliveries of the request may have published children, which
/// its cursor counts.
extension DeliveryRecord {
    /// The counts of the children that this delivery and earlier ones published.
    var childCounts: FanoutCursor { expansion?.counts ?? FanoutCursor(of: delivery.properties) }

    /// Returns whether this delivery or an earlier one published children. Returns false for a request without an id,
    /// to which consumers could not match a report.
    ///
    /// - Parameter worker: The worker whose cursors are trusted if this delivery ends before its expansion.
    func hasPublishedChildren(trusting worker: @autoclosure () -> WorkerIdentity) -> Bool {
        guard expansion == nil else { return childCounts.deviceCount > 0 }
        let properties = delivery.properties
        guard properties.hasHeaders, properties.header(MessageHeaderName.cursor) != nil, fanoutOrigin == nil,
            id != nil, !isToOneTarget, worker().published(properties)
        else { return false }
        return childCounts.deviceCount > 0
    }

    /// Whether the request was read and names a device or a channel. A worker republishes such a request with the
    /// cursor of a producer.
    private var isToOneTarget: Bool {
        switch target {
        case .device, .channel: true
        case .user, nil: false
        }
    }
}
