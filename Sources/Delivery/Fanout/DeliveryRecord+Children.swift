import AMQP

/// The published children of a request to users. Earlier deliveries of the request may have published children, which
/// its cursor counts.
extension DeliveryRecord {
    /// The counts of the children that this delivery and earlier ones published.
    var childCounts: FanoutCursor { expansion?.counts ?? FanoutCursor(of: delivery.properties) }

    /// Returns whether this delivery or an earlier one published children.
    ///
    /// - Parameter worker: The worker whose cursors are trusted if this delivery ends before its expansion. A
    ///   producer's cursor is then not trusted, because the request may have any target.
    func hasPublishedChildren(trusting worker: @autoclosure () -> WorkerIdentity) -> Bool {
        if expansion == nil {
            let properties = delivery.properties
            guard fanoutOrigin == nil, properties.hasHeaders, properties.header(MessageHeaderName.cursor) != nil,
                worker().published(properties)
            else { return false }
        }
        return childCounts.deviceCount > 0
    }
}
