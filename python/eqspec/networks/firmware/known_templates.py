"""Which definitions of hls4ml's templates have been read, and by which releases they were written.

A key is a header with a definition of it. Digests are those of `templates.definitions`. All that stand under one key
compute the same function, as far as layers are read: they differ in asserts, in names of local constants, in how arrays
are laid out, in what a pool does with strides that differ from its windows, and in what chooses the kernel of a dense
layer, its configuration's `kernel` or its `strategy`, which therefore have to agree.
"""

DIGESTS: dict[str, tuple[str, ...]] = {
    "nnet_activation.h:leaky_relu": (
        "9d39c69db91178b0c0446b2c41a25c2d",  # 1.0 to 1.3.0
    ),
    "nnet_activation.h:linear": (
        "80a4509a1ecf27e3ee5834827363483c",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:prelu": (
        "4744e3b979fb81c02d66db0cd80b4599",  # 1.0 to 1.3.0
    ),
    "nnet_activation.h:relu": (
        "8c2543c3d3257db16e7e09d7b2c0ca79",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:relu1": (
        "ddc6f978b1026b2b62c8769cbffa5124",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:relu6": (
        "95de368162d471da213c10beb141e021",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:relu_max": (
        "4f87aa790fa7a569d084c643f3f2e308",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:thresholded_relu": (
        "46e1bf78fa3154b612f9bb164724d5ca",  # 1.0 to 1.3.0
    ),
    "nnet_activation_stream.h:leaky_relu": (
        "3eff6a7c3be7b0161176cc09987bbce6",  # 1.0 to 1.3.0
    ),
    "nnet_activation_stream.h:linear": (
        "ea540895ca4a282e577278ab134a2388",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:prelu": (
        "ababbf0503b731397dfac0cec3c08ebe",  # 1.0 to 1.3.0
    ),
    "nnet_activation_stream.h:relu": (
        "c5314bb1684014dbf21d405adf29b276",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:thresholded_relu": (
        "8348690b5e909ce381e8409a5e94d416",  # 1.0 to 1.3.0
    ),
    "nnet_batchnorm.h:normalize": (
        "149e30645a85f89909267006f84b1039",  # 0.8.1 to 1.3.0
    ),
    "nnet_batchnorm_stream.h:normalize": (
        "510eab8e246bd9b903b6cf0f337464f5",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv1d.h:Conv1DLatency": (
        "c8484cce3d987ff6b5f7b89863382548",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.1.0
        "350a782c90cd3dbb4d2014c46e75d349",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_conv1d.h:Conv1DResource": (
        "11015352218dfa414e0aeebc94cee571",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.1.0
        "4dcc5a4be77bb36ffb816377ffeb7f92",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_conv1d.h:conv_1d_cl": (
        "70ced3b60e158cb8038da2f1971a440a",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv1d_latency.h:conv_1d_latency_cl": (
        "24a32495ea3ea157d311a5f702bccd02",  # 1.0 to 1.3.0
        "e3f857e6183fe91ec58579a41277519e",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv1d_resource.h:conv_1d_resource_cl": (
        "a83b28d97cda500524f3ffe50e1a0061",  # 1.0 to 1.3.0
        "e87c97bbdbdd2537378bf9b6b30b3c8c",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv2d.h:conv_2d_cl": (
        "c49c2354ac231b02d114620ff38e1b57",  # 1.0 to 1.1.0, Vitis of 1.0 to 1.1.0
        "bb6b1d55c47476c922d3fff1704414e7",  # 1.2 to 1.3.0
        "45d5ca7a51f79e174f81451a0fe66af2",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_conv2d_latency.h:conv_2d_latency_cl": (
        "150bb7e39b8115d28aae3575d266d32c",  # 1.0 to 1.3.0
        "aa018d93681377c1578404a2da97a580",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv2d_resource.h:conv_2d_resource_cl": (
        "0e7f9b5f69e94ddcce1b287f1ee4e032",  # 1.0 to 1.3.0
        "62d4f28d9724f26e1c15b9f16f634339",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_dense.h:DenseLatency": (
        "92f98e3c13269a978eaf73e67f12dd5d",  # 1.0 to 1.3.0
    ),
    "nnet_dense.h:DenseResource_rf_gt_nin_rem0": (
        "70a57fe42fcae54d1c2cf65e5a25aada",  # 1.0 to 1.3.0
    ),
    "nnet_dense.h:DenseResource_rf_leq_nin": (
        "55290acb72be2af931c46f4ffce667bd",  # 1.0 to 1.3.0
    ),
    "nnet_dense.h:dense": (
        "2688ff63fd18098007f81c10655ef374",  # 0.8.1
        "2318ea8c92bbf90d049e50f163efd02f",  # 1.0 to 1.3.0
    ),
    "nnet_dense_latency.h:dense_latency": (
        "2f48dfcf06bf128f1c8e8003bb1cf8a7",  # 0.8.1 to 1.3.0
    ),
    "nnet_dense_resource.h:dense_resource": (
        "033e4d2c4dcf62520d7059c5f4207fde",  # 0.8.1 to 1.3.0, Vitis of 0.8.1
    ),
    "nnet_dense_resource.h:dense_resource_rf_gt_nin_rem0": (
        "54cb16e0783e739edc7be0a62f82f11d",  # 0.8.1
        "f8678d4709c43d116bf95e82b63053fa",  # Vitis of 0.8.1
        "422b6fec2714ed58af0f4d3932c11b65",  # 1.0 to 1.3.0
    ),
    "nnet_dense_resource.h:dense_resource_rf_leq_nin": (
        "76201806a8001ce1fc50ff89dd7fd1cb",  # 0.8.1
        "1ce2b6b5776a06597ba2a6a934982d16",  # Vitis of 0.8.1
        "d335bb9b1386fe197b264a7326b0be41",  # 1.0 to 1.3.0
    ),
    "nnet_dense_stream.h:data_prepare": (
        "be9c0d8f64b3dcc1aad6bacf305bb540",  # Vitis of 0.8.1 to 1.3.0
    ),
    "nnet_dense_stream.h:dense": (
        "1176788c804c7b91596163ea01c389a2",  # 0.8.1 to 1.3.0
        "8c316302fce17e959bd150353e79e0fc",  # Vitis of 0.8.1 to 1.1.0
        "dcdbfee3e240659739e5f80e52d8fd86",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_dense_stream.h:dense_latency_wrapper": (
        "57466d05caf0f784d9002e8437bb066f",  # Vitis of 0.8.1 to 1.3.0
    ),
    "nnet_dense_stream.h:dense_resource_wrapper": (
        "e5fa9d7a035c98f6f8c7369f0346521b",  # Vitis of 0.8.1 to 1.3.0
    ),
    "nnet_dense_stream.h:dense_wrapper": (
        "721c58f7bbfbc435c925fd1c81dd6f0d",  # 0.8.1
        "b9268661a8a1817ee8dacf8b9d3c7a2b",  # 1.0 to 1.1.0
        "ff45e28b2c9b2c3cbb3d9344a9998518",  # 1.2 to 1.3.0
    ),
    "nnet_dense_stream.h:res_write": (
        "dcbef148c9b4c7e711f7adeca12b2a30",  # Vitis of 0.8.1 to 1.3.0
    ),
    "nnet_helpers.h:load_weights_from_txt": (
        "e7a03651679f92f138c82d4222f891bd",  # 0.8.1 to 1.1.0
        "7670d5c0365f04853f49220e15fe89c6",  # 1.2 to 1.3.0
    ),
    "nnet_merge.h:add": (
        "9f54c7296133f3ad732ec781e7f61541",  # 0.8.1 to 1.2.0
        "6c5167e8f0973564130ca0e973120180",  # 1.3.0
    ),
    "nnet_merge.h:concatenate1d": (
        "210e89ac3a748603563d0500b8bbd800",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:subtract": (
        "94c48325853a23980c6c0aa6c017c7f8",  # 0.8.1 to 1.2.0
        "f493716ff3665de1390cd738a14e4980",  # 1.3.0
    ),
    "nnet_mult.h:cast": (
        "765a0c5e38083af37a8a0dd1db0ee586",  # 0.8.1 to 1.1.0
        "0368ee4490b5669c5ca359ca5fca8e18",  # 1.2 to 1.3.0
    ),
    "nnet_mult.h:mult": (
        "2c970db23456d05442183c8a96bd875d",  # 0.8.1 to 1.3.0
    ),
    "nnet_mult.h:weight_binary": (
        "31f5174da9bd8e7e8d79156d66a48ee0",  # 0.8.1 to 1.3.0
    ),
    "nnet_mult.h:weight_ternary": (
        "26ce890bfa85445cb5ad9ab29622cd85",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling.h:global_pooling1d_cl": (
        "d6d7d17a92ecf238056c7cc3211a2998",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling.h:global_pooling2d_cl": (
        "08f29a1ec3448de4bca3adf129e0dd73",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling.h:max": (
        "01146247f6e247ff88ddc52170b70e0f",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling.h:pool_op": (
        "63106c3d6b08a936bc9d7bdbbb565c9f",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling.h:pooling1d_cl": (
        "f3c4258bf7a0d7ed494f66d2b3af8b88",  # 1.0 to 1.1.0, Vitis of 1.0 to 1.1.0
        "9aecf42968058b3fafb404415626b4e2",  # 1.2 to 1.3.0, Vitis of 1.2 to 1.3.0
    ),
    "nnet_pooling.h:pooling2d_cl": (
        "46a102004fe37cd17aa0334fc6a6146f",  # 1.0 to 1.1.0, Vitis of 1.0 to 1.1.0
        "0e59222908980ba26cfaf6f48a5b4ad0",  # 1.2 to 1.3.0, Vitis of 1.2 to 1.3.0
    ),
    "nnet_transpose.h:transfer_idx": (
        "6b6d0cc55bd90bd4ef97fde8758cc4b1",  # 1.1 to 1.3.0
    ),
    "nnet_transpose.h:transpose": (
        "d5baef51de302afccda4449cf4c46442",  # 1.1 to 1.3.0
    ),
    "nnet_types.h:array": (
        "5499ff55c7f1ff01b82d65e7a41b81c2",  # 0.8.1 to 1.1.0
        "b0c317c267fc701144419dd96519a422",  # 1.2 to 1.3.0
    ),
}
