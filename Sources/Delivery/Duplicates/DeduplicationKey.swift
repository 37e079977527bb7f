import AMQP
import Crypto
import Hashing

/// What makes two deliveries the same message: the id and every byte of the body, which names the app. A body that was
/// corrected is another message.
public struct DeduplicationKey: Sendable, Hashable {
    let high: UInt64
    let low: UInt64
}

extension SecretMixer {
    /// 128 bits, so that no two messages of a process' life are ever taken for one; nobody can make a pair that is.
    func deduplicationKey(id: UUIDValue, body: UnsafeRawBufferPointer) -> DeduplicationKey {
        let content = hash(body)
        // Ids may differ in one half alone, and each half of the key leads to a place of its own.
        let low = mix(id.low, mix(id.high, content))
        return DeduplicationKey(high: mix(id.high ^ low, content &+ 1), low: low)
    }

    /// Of what the publisher wrote beside the body; brokers add headers that begin with `x-`. Two publishes of the same
    /// body rarely have the same: times, traces and correlation ids tell them apart.
    func fingerprint(of properties: MessageProperties) -> UInt32 {
        UInt32(truncatingIfNeeded: properties.publishersSum { hash($0) })
    }
}
