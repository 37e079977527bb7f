/// A descriptor that the loop looks at.
final class DescriptorRegistration {
    let descriptor: Int32
    let slot: Int
    /// Tells events of an earlier watch in the same slot, already taken from the kernel, from this one's.
    let generation: UInt32
    var events: UInt32
    let action: (UInt32) -> Void
    /// The loop has ended and looks no more: close the descriptor and forget the watch.
    let abandoned: () -> Void

    init(
        descriptor: Int32, slot: Int, generation: UInt32, events: UInt32, action: @escaping (UInt32) -> Void,
        abandoned: @escaping () -> Void
    ) {
        self.descriptor = descriptor
        self.slot = slot
        self.events = events
        self.action = action
        self.abandoned = abandoned
        self.generation = generation
    }

    /// What the kernel gives back with each event.
    var key: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}
