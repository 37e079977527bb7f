public import EventLoop

extension Consumer {
    /// A settlement other than an acknowledgment.
    enum Settlement {
        case reject(requeue: Bool)
        case requeue
    }

    /// Acknowledges a delivery. The broker then deletes the message from the queue.
    public func acknowledge(_ tag: DeliveryTag) {
        guard isCurrent(tag), settled(tag, window.acknowledge(tag.number, now: loop.now.monotonic)) else { return }
        channel.flushAfterIteration()
    }

    /// Rejects a harmful message. Without `requeue`, the broker sends the message to the queue's dead-letter exchange.
    /// If the queue has no such exchange, the broker discards the message. With `requeue`, the message returns to the
    /// queue, which counts a failed delivery.
    public func reject(_ tag: DeliveryTag, requeue: Bool) {
        settle(tag, .reject(requeue: requeue))
    }

    /// Requeues a message, so that another worker can receive it. RabbitMQ 4.3 and later do not count a failed
    /// delivery.
    public func requeue(_ tag: DeliveryTag) {
        settle(tag, .requeue)
    }

    private func settle(_ tag: DeliveryTag, _ settlement: Settlement) {
        guard isCurrent(tag), settled(tag, window.settle(tag.number)) else { return }
        if case .quiescing = subscription {
            withheld.append((tag.number, settlement))
        } else {
            send(settlement, tag.number)
        }
    }

    private func send(_ settlement: Settlement, _ tag: UInt64) {
        countSettlements(1, loop.now.monotonic)
        switch settlement {
        case .reject(let requeue): channel.send(.basicReject(deliveryTag: tag, requeue: requeue))
        case .requeue: channel.send(.basicNack(deliveryTag: tag))
        }
    }

    private func countSettlements(_ count: Int, _ now: MonotonicTime) {
        settlements.sent(count, at: now)
        hasSettledSinceCancel = true
    }

    /// Returns whether the delivery is unsettled and its channel still exists.
    public func holds(_ tag: DeliveryTag) -> Bool {
        tag.generation == generation && window.isOpen(tag.number)
    }

    /// Returns whether the channel of a delivery still exists. If not, the function counts a stale settlement and
    /// releases the bytes of the delivery.
    private func isCurrent(_ tag: DeliveryTag) -> Bool {
        loop.assertOnLoop()
        if tag.generation == generation { return true }
        staleSettlements += 1
        release(tag.bytes)
        return false
    }

    /// Releases the bytes of a delivery that was open, or counts a stale settlement. Returns `wasOpen`.
    private func settled(_ tag: DeliveryTag, _ wasOpen: Bool) -> Bool {
        if wasOpen { release(tag.bytes) } else { staleSettlements += 1 }
        return wasOpen
    }

    private func release(_ bytes: UInt32) {
        bodyBytesInFlight = max(0, bodyBytesInFlight - Int(bytes))
        if hasPausedReading, bodyBytesInFlight <= configuration.bodyBytesInFlightMax / 4 * 3 {
            hasPausedReading = false
            connection.resumeReading()
        }
    }

    /// Sends the settlements that are due. Does nothing while the consumer withholds settlements for a pause.
    ///
    /// - Parameter all: whether to also send the acknowledgments that wait for older deliveries.
    func sendSettlements(all: Bool) {
        if case .quiescing = subscription { return }
        // Send withheld settlements first, because a `multiple` acknowledgment could cover their deliveries.
        for (tag, settlement) in withheld { send(settlement, tag) }
        withheld.removeAll(keepingCapacity: true)
        let now = loop.now.monotonic
        window.decide(now: all ? .distantFuture : now)
        if !window.acks.isEmpty { countSettlements(window.acks.count, now) }
        for ack in window.acks { channel.acknowledge(ack.tag, multiple: ack.multiple) }
        window.acks.removeAll(keepingCapacity: true)
        guard let deadline = window.deadline else { return }
        acknowledgmentTimer.arm(at: deadline, for: self) { $0.channel.flushAfterIteration() }
    }

    /// Stops consuming and returns once the queue has applied all settlements, or at `deadline`. Call this function
    /// before closing the channel, because the close discards settlements that the queue has not applied.
    ///
    /// RabbitMQ answers `basic.cancel` after the queue has applied the earlier settlements. If no consumer is running,
    /// or if settlements follow `basic.cancel`, the consumer also sends `basic.qos`. The answer to `basic.qos` shows
    /// only that the broker has read the settlements, which then count as applied after a fixed time
    /// (``UnappliedSettlements``).
    ///
    /// - Returns: false if settlements may be lost. The broker's answer may be late, the settlements may not count as
    ///   applied in time, or the channel may be lost.
    @discardableResult public func waitUntilSettled(by deadline: MonotonicTime) async -> Bool {
        sendSettlements(all: true)
        let channelBefore = generation
        let wasRunning = if case .running = subscription { true } else { false }
        await stopConsuming(by: deadline)
        if case .stopping = subscription { return false }
        sendSettlements(all: true)
        // The answer to `basic.cancel`, if the method was sent, covers only earlier settlements.
        if !wasRunning || hasSettledSinceCancel {
            guard channel.isSetUp, await isEchoed(by: deadline) else { return false }
            if let safeAt = settlements.safeAt, safeAt > loop.now.monotonic {
                await loop.sleep(for: loop.now.monotonic.duration(to: min(safeAt, deadline)))
                if safeAt > deadline { return false }
            }
        }
        return generation == channelBefore
    }

    /// Returns whether the broker has read everything that was sent. Sends `basic.qos`, which the broker answers and
    /// which changes nothing.
    private func isEchoed(by deadline: MonotonicTime) async -> Bool {
        let number = qosRoundTrips.sent()
        sendPrefetch()
        await qosRoundTrips.waiters.wait(on: loop, for: loop.now.monotonic.duration(to: deadline)) { () }
        return qosRoundTrips.isAnswered(number)
    }
}
