import AMQP

/// A queue of the type `stream`. Messages stay in the queue, and each consumer has its own position.
extension ScriptedQueue {
    /// Returns the position of a new consumer; nil if the argument `x-stream-offset` is invalid. Like RabbitMQ, keeps
    /// an offset that the stream has not reached.
    func position(_ argument: FieldValue?) -> Int? {
        switch argument {
        case nil, "next": items.count
        case "first": 0
        case "last": max(0, items.count - 1) / chunkMessages * chunkMessages
        case .integer(let offset): Int(max(0, offset))
        // The scripted broker knows no times of messages.
        case .timestamp: 0
        default: nil
        }
    }

    /// Delivers whole chunks to each consumer until its prefetch is reached or exceeded, as RabbitMQ does.
    func deliverChunks() {
        for consumer in consumers {
            while consumer.hasRoom, consumer.position < items.count {
                let end = min(items.count, (consumer.position / chunkMessages + 1) * chunkMessages)
                let chunk = items[consumer.position..<end]
                consumer.position = end
                for message in chunk { consumer.channel.deliver(message, to: consumer) }
            }
        }
    }
}
