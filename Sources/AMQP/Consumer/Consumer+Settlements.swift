public import EventLoop

extension Consumer {
    /// How a delivery returns to the broker.
    enum Settlement {
        case reject(requeue: Bool)
        case requeue
    }

    /// The delivery has been dealt with: the broker may forget it.
    public func acknowledge(_ tag: DeliveryTag) {
        guard isCurrent(tag), settled(tag, window.acknowledge(tag.number, now: loop.now.monotonic)) else { return }
        channel.flushAfterIteration()
    }

    /// The message did harm: it goes to the queue's dead-letter exchange or, with `requeue`, back to the queue, where it
    /// counts as a failed delivery.
    public func reject(_ tag: DeliveryTag, requeue: Bool) {
        settle(tag, .reject(requeue: requeue))
    }

    /// The message returns to its queue unharmed, for another worker; from RabbitMQ 4.3 on this is no failed delivery.
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

    /// Whether the delivery is unsettled and its channel still there, so that it can be settled.
    public func holds(_ tag: DeliveryTag) -> Bool {
        tag.generation == generation && window.isOpen(tag.number)
    }

    /// Whether the channel of a delivery is still there. What is settled later releases its bytes all the same.
    private func isCurrent(_ tag: DeliveryTag) -> Bool {
        loop.assertOnLoop()
        if tag.generation == generation { return true }
        staleSettlements += 1
        release(tag.bytes)
        return false
    }

    /// Releases the bytes of a delivery, unless it was settled before.
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

    /// - Parameter all: acknowledgements that wait for older deliveries as well.
    func sendSettlements(all: Bool) {
        if case .quiescing = subscription { return }
        // First: a later acknowledgement may be for all before it.
        for (tag, settlement) in withheld { send(settlement, tag) }
        withheld.removeAll(keepingCapacity: true)
        let now = loop.now.monotonic
        window.decide(now: all ? .distantFuture : now)
        if !window.acks.isEmpty { countSettlements(window.acks.count, now) }
        for ack in window.acks { channel.acknowledge(ack.tag, multiple: ack.multiple) }
        window.acks.removeAll(keepingCapacity: true)
        guard let deadline = window.deadline else { return }
        acknowledgementTimer.arm(at: deadline, for: self) { $0.channel.flushAfterIteration() }
    }

    /// Takes no more deliveries, and returns when what was settled is not lost with the channel any more, or after
    /// `deadline`: to be called before the channel is closed.
    ///
    /// RabbitMQ answers `basic.cancel` when the queue has applied what came before. Where nothing is consumed any more, an
    /// answer shows only that the broker has read it. The queue has applied it after a time (``UnappliedSettlements``).
    ///
    /// - Returns: false where it may be lost: there was no answer in time, or the channel has ended meanwhile.
    @discardableResult public func untilSettled(by deadline: MonotonicTime) async -> Bool {
        sendSettlements(all: true)
        let channelBefore = generation
        let wasRunning = if case .running = subscription { true } else { false }
        await stopConsuming(by: deadline)
        if case .stopping = subscription { return false }
        sendSettlements(all: true)
        // What was withheld, or settled meanwhile, left behind `basic.cancel`: its answer says nothing of that.
        if !wasRunning || hasSettledSinceCancel {
            guard channel.isSetUp, await isEchoed(by: deadline) else { return false }
            if let safeAt = settlements.safeAt, safeAt > loop.now.monotonic {
                await loop.sleep(for: loop.now.monotonic.duration(to: min(safeAt, deadline)))
                if safeAt > deadline { return false }
            }
        }
        return generation == channelBefore
    }

    /// Whether the broker has read what was sent; `basic.qos` is answered and changes nothing.
    private func isEchoed(by deadline: MonotonicTime) async -> Bool {
        let number = echoes.sent()
        sendPrefetch()
        await echoes.waiters.wait(on: loop, for: loop.now.monotonic.duration(to: deadline)) { () }
        return echoes.isAnswered(number)
    }
}
