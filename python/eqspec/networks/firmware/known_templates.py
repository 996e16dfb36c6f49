"""Which definitions of hls4ml's templates have been read, and by which releases they were written.

A key is a header with a definition of it. Digests are those of `templates.definitions`. All that stand under one key
compute the same function, as far as layers are read: they differ in asserts, in names of local constants, in how arrays
are laid out, in what a pool does with strides that differ from its windows, and in what chooses the kernel of a dense
layer, its configuration's `kernel` or its `strategy`, which therefore have to agree.
"""

from __future__ import annotations

from eqspec.networks.firmware.known_stream_templates import STREAM_DIGESTS

DIGESTS: dict[str, tuple[str, ...]] = {
    **STREAM_DIGESTS,
    "nnet_activation.h:binary_cast": (
        "0cabb280785bab818e78d4d3d734edb0",  # 1.2 to 1.3.0
    ),
    "nnet_activation.h:binary_tanh": (
        "033c429b27b3a8af0df575661b0d4e4e",  # 1.2 to 1.3.0
    ),
    "nnet_activation.h:elu": (
        "b17462cf2da995c3f932e52447eb0cfb",  # 1.0 to 1.3.0
    ),
    "nnet_activation.h:elu_fcn_float": (
        "d323cdd84451bf078a31f213b0cbc80e",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:get_index_unary_lut": (
        "f8c82fc732b886fce31fef04a10d4646",  # 1.0 to 1.3.0
    ),
    "nnet_activation.h:hard_sigmoid": (
        "02bee46163a9066da41bffdd0fdc45b4",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:hard_tanh": (
        "52f540a19200d6dff3ce0d03e80adc5b",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:init_elu_table": (
        "707d304ba59f4df7e949983e0df27efe",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:init_selu_table": (
        "a6ce6c7889edbb14856d5af8b255447f",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:init_sigmoid_table": (
        "90f73084599f4abbe2336fd8f22551f0",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:init_softplus_table": (
        "1673a1a40994d38eaf7de5654dbda81f",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:init_softsign_table": (
        "8d11a39b3493275dd6f4f08c87ed07bb",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:init_tanh_table": (
        "2047342cd9a770c2af39ecd43f470f7f",  # 0.8.1 to 1.3.0
    ),
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
    "nnet_activation.h:selu": (
        "78949caa8eea47fb635846ea94e240e3",  # 1.2 to 1.3.0
    ),
    "nnet_activation.h:selu_fcn_float": (
        "16a6a3f80ac55267c0ed4b7297f33001",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:sigmoid": (
        "a409e5912f0d75ef02b3186d9008da07",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:sigmoid_fcn_float": (
        "504edf665bb69888d820cbc5f9dbc3a0",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:softplus": (
        "7ecb29e130fd23cbb200bd30ddb148ce",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:softplus_fcn_float": (
        "36e1ae946e37fbba946d96f05c791651",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:softsign": (
        "b85a08490eed68dede184bdf20143dbc",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:softsign_fcn_float": (
        "796030c19d11bb0a338ff88aa51579d7",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:tanh": (
        "00e4a19120b3fd2ed25c2069c569206e",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:ternary_tanh": (
        "024154b18049dd5f5d6b741de7d25ed5",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation.h:thresholded_relu": (
        "46e1bf78fa3154b612f9bb164724d5ca",  # 1.0 to 1.3.0
    ),
    "nnet_activation.h:unary_lut": (
        "0608ae25c392ce872e936ced4e33f799",  # 1.0 to 1.3.0
    ),
    "nnet_batchnorm.h:normalize": (
        "149e30645a85f89909267006f84b1039",  # 0.8.1 to 1.3.0
    ),
    "nnet_batchnorm.h:normalize_binary_tanh": (
        "6d5f3786372344f53c941da7271915f6",  # 0.8.1 to 1.3.0
    ),
    "nnet_batchnorm.h:normalize_ternary_tanh": (
        "4d854d9021102b77a893642bbbe59d8c",  # 0.8.1 to 1.3.0
    ),
    "nnet_common.h:Op_add": (
        "1f81a6546f0579899c7b1727a9f03ff3",  # 0.8.1 to 1.3.0
    ),
    "nnet_common.h:Op_max": (
        "9bd276e74f6cd574f9d69ce8f648e431",  # 0.8.1 to 1.3.0
    ),
    "nnet_common.h:reduce": (
        "12696b6d779aeb2deedde2097f0824ad",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv1d.h:BatchedDenseForConv1D": (
        "6b23a815808b9b3989acdca22680116e",  # 1.2 to 1.3.0, Vitis of 1.2 to 1.3.0
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
    "nnet_conv1d.h:pointwise_conv_1d_cl": (
        "b18c8d9ededa9eea189b2f69bfd9ba1b",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv1d_latency.h:conv_1d_latency_cl": (
        "24a32495ea3ea157d311a5f702bccd02",  # 1.0 to 1.3.0
        "e3f857e6183fe91ec58579a41277519e",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv1d_latency.h:pointwise_conv_1d_latency_cl": (
        "000a1c9d79168faa030ecf826ee5ed89",  # 1.2 to 1.3.0, Vitis of 1.2 to 1.3.0
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
    "nnet_conv2d.h:pointwise_conv_2d_cl": (
        "d1cb3988e8ad16591473e2af0881bd5a",  # 0.8.1 to 1.1, Vitis of 1.0 to 1.1
        "ebfe7fd1365c723f16c013b3ad98d2f6",  # 1.2 to 1.3.0
        "8721e8cd42c712085721ec1cb482cd2a",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_conv2d_latency.h:conv_2d_latency_cl": (
        "150bb7e39b8115d28aae3575d266d32c",  # 1.0 to 1.3.0
        "aa018d93681377c1578404a2da97a580",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv2d_resource.h:conv_2d_resource_cl": (
        "0e7f9b5f69e94ddcce1b287f1ee4e032",  # 1.0 to 1.3.0
        "62d4f28d9724f26e1c15b9f16f634339",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_cropping.h:cropping1d_cl": (
        "3e1bcf1967ddb8b373053924d0535231",  # 1.2 to 1.3.0
    ),
    "nnet_cropping.h:cropping2d_cl": (
        "330badcc6082943206277f1e187311c4",  # 1.2 to 1.3.0
    ),
    "nnet_da_wrappers.h:conv1d_cl": (
        "dcfd91af1ba91000b8ad768d86cde291",  # 1.2 to 1.3.0
    ),
    "nnet_da_wrappers.h:conv2d_cl": (
        "e14c0ec99dd9f260c63d7c9199775c3d",  # 1.2 to 1.3.0
    ),
    "nnet_da_wrappers.h:dense": (
        "c58111f46a4a88e5f89dc3afe232aeaf",  # 1.2 to 1.3.0
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
    "nnet_einsum.h:einsum": (
        "3f27517f96f2332fac756bcf525c08c8",  # 1.2 to 1.3.0
    ),
    "nnet_einsum_dense.h:einsum_dense": (
        "0f2fdb063a11e04ee58cf7d099dc26ae",  # 1.2 to 1.3.0
    ),
    "nnet_function_stubs.h:bit_shift": (
        "94a36dbd430e1d1f32c2390fb768fc64",  # 1.2 to 1.3.0
    ),
    "nnet_helpers.h:load_exponent_weights_from_txt": (
        "caf2c07bba44d96040c7b3da6f3e9009",  # 0.8.1 to 1.3.0
    ),
    "nnet_helpers.h:load_weights_from_txt": (
        "95782dd9ee8e6169a7b0f18ecb06faf8",  # 0.8.1 to 1.1.0
        "b65a70bde2acb206e2eaecceecb1a26b",  # 1.2 to 1.3.0
    ),
    "nnet_image.h:resize_nearest": (
        "5db0e5e2285894729735f220e3b49773",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:add": (
        "9f54c7296133f3ad732ec781e7f61541",  # 0.8.1 to 1.2.0
        "6c5167e8f0973564130ca0e973120180",  # 1.3.0
    ),
    "nnet_merge.h:average": (
        "d4405a532627421aa2f9b2b138a235b1",  # 1.3.0
    ),
    "nnet_merge.h:concatenate1d": (
        "210e89ac3a748603563d0500b8bbd800",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:concatenate2d": (
        "ae0d26a1ae8e04a85962ae7b93fb074c",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:concatenate2d_0": (
        "fb2125a2509e87924c3ede7d5141945c",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:concatenate2d_1": (
        "4c917478773f602bd494eb83511c4730",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:concatenate3d": (
        "4e5746bbc1b5606665a1b4aa4f322cc1",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:concatenate3d_0": (
        "e63e5a0924615ff0f63703b384436ed8",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:concatenate3d_1": (
        "73b57198891d2dafe22cbbb3b7c3cac1",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge.h:concatenate3d_2": (
        "b71c866bfbcc90400fa0957ae0b7da0d",  # 1.2 to 1.3.0
    ),
    "nnet_merge.h:maximum": (
        "e9cf362283ebf16485f999a4f48f04ff",  # 1.3.0
    ),
    "nnet_merge.h:minimum": (
        "083c0bac6947bec3cd22b6579006b611",  # 1.3.0
    ),
    "nnet_merge.h:multiply": (
        "8541c800aa8f5ae8dad85abc3f6fc0d8",  # 1.0 to 1.2.0
        "c7a74f93f129a994a67ace7c1100051a",  # 1.3.0
    ),
    "nnet_merge.h:subtract": (
        "94c48325853a23980c6c0aa6c017c7f8",  # 0.8.1 to 1.2.0
        "f493716ff3665de1390cd738a14e4980",  # 1.3.0
    ),
    "nnet_mult.h:both_binary": (
        "b03c5c577f2676a414dc75ddafd6218d",  # 0.8.1 to 1.3.0
    ),
    "nnet_mult.h:cast": (
        "765a0c5e38083af37a8a0dd1db0ee586",  # 0.8.1 to 1.1.0
        "0368ee4490b5669c5ca359ca5fca8e18",  # 1.2 to 1.3.0
    ),
    "nnet_mult.h:data_binary": (
        "869af3d19088ea571cacd7bb7bb0223b",  # 0.8.1 to 1.3.0
    ),
    "nnet_mult.h:mult": (
        "2c970db23456d05442183c8a96bd875d",  # 0.8.1 to 1.3.0
    ),
    "nnet_mult.h:weight_binary": (
        "31f5174da9bd8e7e8d79156d66a48ee0",  # 0.8.1 to 1.3.0
    ),
    "nnet_mult.h:weight_exponential": (
        "f25a683cd83356e978222b67ee30f3bd",  # 0.8.1 to 1.3.0
    ),
    "nnet_mult.h:weight_ternary": (
        "26ce890bfa85445cb5ad9ab29622cd85",  # 0.8.1 to 1.3.0
    ),
    "nnet_padding.h:zeropad1d_cl": (
        "e94ac95e3070e846082a1db9a75b02f2",  # 0.8.1 to 1.3.0
    ),
    "nnet_padding.h:zeropad2d_cl": (
        "2c257b8821686fcd65c6841ea23ff5eb",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling.h:avg": (
        "547595573523067269730f8b4e214bba",  # 1.0 to 1.3.0, Vitis of 1.0 to 1.3.0
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
    "nnet_pooling.h:pad_val": (
        "ae56907159bf4b46471e8125a73b6ba0",  # 0.8.1 to 1.3.0, Vitis of 1.0 to 1.3.0
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
